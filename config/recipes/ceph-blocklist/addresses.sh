# Read by fence and verify: what an address is, and how Ceph shows it. POSIX sh; defines functions and does nothing else.
#
# Addresses are separated by commas: 192.0.2.11, 2001:db8::11, or a range such as 192.0.2.16/30. Ceph takes "add" with a
# range for an address with a strange port, says "blocklisting", and blocks nobody: ranges need "range add".

# The narrowest prefixes that are taken: a slip such as 10.0.0.0/8 would cut every host of the cloud off its storage.
widest_v4=24
widest_v6=64

say() { echo "$(basename "$0"): $*" >&2; }

# Ends with 2 (nobody knows) on anything that is not clearly an address: nothing half-understood is sent to Ceph.
check_addresses() {
  [ -n "$1" ] || { say 'no address is given'; exit 2; }
  case $1 in *[!0-9a-fA-F:./,]* | ,* | *, | *,,*) say "\"$1\" is no list of addresses"; exit 2 ;; esac
  for address in $(echo "$1" | tr ',' ' '); do check_address "$address"; done
}

check_address() {
  plain=${1%%/*}
  case $plain in
    *:*:*) widest=$widest_v6 longest=128 ;;
    *[!0-9.]* | '' | .* | *. | *..*) say "\"$1\" is no address"; exit 2 ;;
    *.*.*.*.*) say "\"$1\" is no address"; exit 2 ;;
    *.*.*.*) widest=$widest_v4 longest=32 ;;
    *) say "\"$1\" is no address"; exit 2 ;;
  esac
  case $plain in 0.0.0.0 | :: | 127.* | ::1) say "$1 is not a host's address in the storage network"; exit 2 ;; esac
  case $1 in
    */*)
      prefix=${1#*/}
      case $prefix in '' | *[!0-9]* | ????*) say "\"$1\" is no range"; exit 2 ;; esac
      if [ "$prefix" -lt "$widest" ] || [ "$prefix" -gt "$longest" ]; then
        say "$1: a range must be between /$widest and /$longest"; exit 2
      fi ;;
  esac
}

# 192.0.2.11 -> 192.0.2.11:0/0; 192.0.2.16/30 -> cidr:192.0.2.16:0/30; IPv6 in brackets. As "osd blocklist ls" prints it.
as_listed() {
  plain=${1%%/*}
  case $plain in *:*) plain="[$plain]" ;; esac
  case $1 in */*) echo "cidr:$plain:0/${1#*/}" ;; *) echo "$plain:0/0" ;; esac
}

# What Ceph is called with. CEPH_ARGS (--name, --keyring, --conf) is read by ceph and rbd themselves.
ceph_within() { ceph --connect-timeout "${LIFEBOAT_CEPH_CONNECT_TIMEOUT:-10}" "$@"; }

# Whether an address is the given one, or in the given range. An IPv6 range is compared by the text of its network part as
# far as whole groups go: wider than the truth at most, so that a watcher is seen rather than missed.
within() {
  case $2 in
    */*) ;;
    *) [ "$1" = "$2" ]; return ;;
  esac
  net=${2%%/*} bits=${2#*/}
  case $net in
    *:*)
      case $1 in *:*) ;; *) return 1 ;; esac
      prefix=$(expand_v6 "$net" | cut -d: -f"1-$((bits / 16))")
      [ "$(expand_v6 "$1" | cut -d: -f"1-$((bits / 16))")" = "$prefix" ] ;;
    *)
      case $1 in *:*) return 1 ;; esac
      hosts=1 left=$((32 - bits))
      while [ "$left" -gt 0 ]; do hosts=$((hosts * 2)) left=$((left - 1)); done
      [ $(($(as_number "$1") / hosts)) -eq $(($(as_number "$net") / hosts)) ] ;;
  esac
}

as_number() { echo "$1" | awk -F. '{ printf "%.0f\n", (($1 * 256 + $2) * 256 + $3) * 256 + $4 }'; }

# 2001:db8::11 -> 2001:db8:0:0:0:0:0:11, in small letters and without leading zeros.
expand_v6() {
  echo "$1" | awk '{
    halves = split(tolower($0), half, "::")
    count = (half[1] == "") ? 0 : split(half[1], head, ":")
    tailed = (halves < 2 || half[2] == "") ? 0 : split(half[2], tail, ":")
    for (i = 1; i <= 8; i++) {
      group = (i <= count) ? head[i] : (i > 8 - tailed) ? tail[i - (8 - tailed)] : "0"
      sub(/^0+/, "", group)
      printf "%s%s", (group == "" ? "0" : group), (i < 8 ? ":" : "\n")
    }
  }'
}
