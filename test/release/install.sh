#!/bin/sh
# Installs the deb $1, upgrades it to $2, removes and purges it, and does so with the rpm $3, with the dpkg,
# the rpm, the accounts and the systemd-sysusers of this machine. What it changes is lost: it sees the machine
# through a layer of its own, in the folder $4. systemctl is a script that writes down its calls: no systemd
# runs there.
set -eu
mount -t tmpfs layer "$4"
mkdir "$4/upper" "$4/work" "$4/root"
cp "$1" "$4/old.deb"
cp "$2" "$4/new.deb"
cp "$3" "$4/waymark.rpm"
mount -t overlay layer -o "lowerdir=/,upperdir=$4/upper,workdir=$4/work" "$4/root"
cd "$4/root"
mount -t tmpfs run run
mount -t tmpfs tmp tmp
mkdir -p run/systemd/system
mv ../old.deb ../new.deb ../waymark.rpm tmp
rm -f bin/systemctl usr/bin/systemctl
cat >usr/bin/systemctl <<'CALLS'
#!/bin/sh
echo "systemctl $*"
CALLS
chmod +x usr/bin/systemctl
chroot . /bin/sh -eu <<'INSIDE'
export PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive
quiet() { "$@" >/tmp/out 2>&1 || { cat /tmp/out; exit 1; }; grep -E '^(systemctl|Kept)' /tmp/out || :; }
echo "== install"
quiet dpkg -i /tmp/old.deb
getent passwd waymark | cut -d: -f1,6,7
stat -c '%a %U %n' /etc/waymark/waymark.yaml
waymark version
echo "== upgrade"
echo 'log-level: debug' >/etc/waymark/waymark.yaml
mkdir -m 700 /var/lib/waymark
quiet dpkg -i /tmp/new.deb
cat /etc/waymark/waymark.yaml
echo "== remove"
quiet dpkg -r waymark
ls /etc/waymark /usr/bin/waymark 2>&1 || :
echo "== purge"
quiet dpkg -P waymark
ls -d /etc/waymark /var/lib/waymark 2>&1 || :
getent passwd waymark | cut -d: -f1
echo "== rpm install"
quiet rpm --install --force-debian --nodeps /tmp/waymark.rpm
stat -c '%a %U %n' /etc/waymark/waymark.yaml
waymark version
echo 'log-level: debug' >/etc/waymark/waymark.yaml
echo "== rpm upgrade"
quiet rpm --upgrade --replacepkgs --force-debian --nodeps /tmp/waymark.rpm
cat /etc/waymark/waymark.yaml
echo "== rpm removal"
quiet rpm --erase waymark
ls /etc/waymark /usr/bin/waymark 2>&1 || :
INSIDE
