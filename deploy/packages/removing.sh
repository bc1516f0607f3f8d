#!/bin/sh
# Runs before the files of the package are removed (deb: remove, rpm: 0) or replaced (deb: upgrade,
# rpm: 1); the service goes on until the new ones are there.
set -e
case "$1" in
remove | 0)
	if [ -d /run/systemd/system ]; then
		systemctl disable --now waymark.service
	fi
	;;
esac
