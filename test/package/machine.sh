# shellcheck shell=bash
# The machine that the package is installed on: a Debian 13 without network, with systemd as process 1. Sourced by ./run, which sets work.

base=${PACKAGE_ROOT:-/var/cache/lifeboat-test/trixie}
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

# Made once, and never written again: each machine lies over it.
make_base() {
  [[ $(cat "$base.ready" 2>/dev/null) == "$base_packages" ]] && return
  say "a Debian 13 with Node.js, once"
  local mirror
  mirror=$(awk '/^URIs:/ {print $2; exit}' /etc/apt/sources.list.d/*.sources 2>/dev/null || true)
  rm -rf "$base" "$base.ready"
  mkdir -p "$(dirname "$base")"
  # A machine is thrown away: nothing needs to reach the disk. No board of a test's machine needs drivers.
  # shellcheck disable=SC2016 # "$1" is mmdebstrap's.
  mmdebstrap --quiet --mode=root --variant=essential --include="apt,$base_packages" --dpkgopt=force-unsafe-io \
    --customize-hook='chroot "$1" systemctl --quiet mask systemd-modules-load.service' \
    trixie "$base" "${mirror:-http://deb.debian.org/debian}" >"$base.log" 2>&1 || { tail "$base.log" >&2; fail mmdebstrap; }
  printf %s "$base_packages" >"$base.ready"
}

boot_machine() {
  # In memory, over the base; gone with this process, whose mounts are its own.
  mkdir "$work/over" "$root"
  mount -t tmpfs tmpfs "$work/over"
  mkdir "$work/over/upper" "$work/over/work"
  mount -t overlay -o "lowerdir=$base,upperdir=$work/over/upper,workdir=$work/over/work" overlay "$root"
  machine=lifeboat-package-$$
  test/package/boot "$root" "$machine" 2>"$work/boot.log" &
  machine_pid=$!
  eventually 60 booted_or_dead
  booted || { cat "$work/boot.log" >&2; fail "systemd does not start in namespaces here: root, cgroup 2 and overlayfs are needed"; }
}
booted_or_dead() { booted || ! kill -0 "$machine_pid" 2>/dev/null; }
booted() { system=$(pgrep -P "$machine_pid" -x systemd) && inside systemctl is-active --quiet multi-user.target 2>/dev/null; }

inside() { nsenter --target "$system" --all env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive USER=root "$@"; }
# How often the daemon that runs now has logged that. Asked by systemd's journal: a command of lifeboat in a loop would
# cost more than all the rest.
logged() { inside journalctl --no-pager --output cat "_SYSTEMD_INVOCATION_ID=$(property InvocationID)" | grep -c -e "$1"; }
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
  # Its last processes go in their own time.
  eventually 20 test/package/boot --tidy "$machine" 2>/dev/null || printf 'cgroup %s is left\n' "$machine" >&2
  machine=
  umount "$root" "$work/over" 2>/dev/null || true
}

# Every file in the root but what dpkg, apt, systemd and useradd (backups) write in passing; and the users.
traces() {
  (
    cd "$root"
    find . -xdev \( -path ./proc -o -path ./var/log -o -path ./var/lib/dpkg -o -path ./var/cache -o -path ./var/lib/apt -o -path ./var/lib/systemd \
      -o -path './etc/sub[ug]id-' -o -path ./tmp -o -path ./run -o -path ./var/tmp \) -prune -o -print | sort
    cat etc/passwd etc/group etc/shadow | sort
  )
}
