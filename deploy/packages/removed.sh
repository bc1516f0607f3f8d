#!/bin/sh
# Runs after the files of the package were removed (deb: remove, then purge; rpm: 0) or replaced.
set -e
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
case "$1" in
purge | 0)
	if [ -d /var/lib/waymark ]; then
		echo "Kept: the data in /var/lib/waymark, and the user waymark. To remove them: rm -r /var/lib/waymark && userdel waymark"
	fi
	;;
esac
