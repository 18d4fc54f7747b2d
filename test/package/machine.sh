# shellcheck shell=bash
# The machine that the package is installed on: a Debian 13 without network, with systemd as process 1. Sourced by ./run, which sets work.

base=${PACKAGE_ROOT:-/opt/lab/package-trixie}
# What the package depends on, and programs that probes and fencing run. linux-sysctl-defaults: ping without capabilities.
base_packages=nodejs,procps,systemd,iputils-ping,ipmitool,openssh-client,linux-sysctl-defaults
root=$work/root
machine=
machine_pid=

say() { printf '\n== %s (%s s)\n' "$*" "$SECONDS"; }
fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
eventually() { # SECONDS COMMAND...
  local until=$((SECONDS + $1)); shift
  until "$@"; do ((SECONDS < until)) || return 1; sleep 0.2; done
}

# Made once; then each machine is a copy of it.
make_base() {
  [[ $(cat "$base/.ready" 2>/dev/null) == "$base_packages" ]] && return
  say "a Debian 13 with Node.js, once"
  local mirror
  mirror=$(awk '/^URIs:/ {print $2; exit}' /etc/apt/sources.list.d/*.sources 2>/dev/null || true)
  rm -rf "$base"
  mkdir -p "$base/etc/dpkg/dpkg.cfg.d" "$(dirname "$base")"
  # The root is thrown away: nothing needs to reach the disk.
  echo force-unsafe-io >"$base/etc/dpkg/dpkg.cfg.d/99test"
  debootstrap --variant=minbase --include="$base_packages" trixie "$base" $mirror >"$base.log" 2>&1 || { tail "$base.log" >&2; fail debootstrap; }
  # No board of a test's machine needs drivers, and without a cloud nobody waits for its network.
  chroot "$base" systemctl mask systemd-modules-load.service >/dev/null 2>&1
  chroot "$base" apt-get clean
  printf %s "$base_packages" >"$base/.ready"
}

boot_machine() {
  rm -rf "$root"
  cp -a --reflink=auto "$base" "$root"
  machine=lifeboat-package-$$
  test/package/boot "$root" "$machine" 2>"$work/boot.log" &
  machine_pid=$!
  eventually 60 booted || { cat "$work/boot.log" >&2; fail "systemd does not start in namespaces: root and cgroup 2 are needed"; }
}
booted() { system=$(pgrep -P "$machine_pid" -x systemd) && inside systemctl is-active --quiet multi-user.target 2>/dev/null; }

inside() { nsenter --target "$system" --all env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive USER=root "$@"; }
# COLUMN COMMAND...: one column of what a command of lifeboat says.
column() { local name=$1; shift; inside lifeboat "$@" -f value -c "$name"; }
property() { inside systemctl show --value --property "$1" lifeboat.service; }
apt() { inside apt-get -y -qq --no-install-recommends -o APT::Sandbox::User=root "$@" >"$work/apt.log" 2>&1 || { cat "$work/apt.log"; fail "apt-get $*"; }; }
give() { install -D -m "$1" "$2" "$root$3"; } # MODE FILE PATH: a file for the machine, root's

# Process 1 gone, all that it started is.
stop_machine() {
  [[ -n $machine ]] || return 0
  kill -9 "$machine_pid" 2>/dev/null || true
  wait "$machine_pid" 2>/dev/null || true
  eventually 10 test/package/boot --tidy "$machine" || true
  machine=
}

# Every file in the root but what dpkg, apt, systemd and the daemon's clients write in passing; and the users.
traces() {
  (
    cd "$root"
    find . -xdev \( -path ./proc -o -path ./var/log -o -path ./var/lib/dpkg -o -path ./var/cache -o -path ./var/lib/apt -o -path ./var/lib/systemd \
      -o -path ./tmp -o -path ./run -o -path ./var/tmp \) -prune -o -print | sort
    cat etc/passwd etc/group etc/shadow | sort
  )
}
