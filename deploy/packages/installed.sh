#!/bin/sh
# Runs after the files of the package are there. A service that runs goes on with the new program;
# one that does not run is not started.
set -e
systemd-sysusers waymark.conf
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart waymark.service
fi
