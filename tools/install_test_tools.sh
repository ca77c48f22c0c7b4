#!/usr/bin/env bash
# Installs what the tests need and this machine lacks: the Python module venv, rustfmt and clippy. Tests compare results
# with GMP (the shared library) and with the command openssl. They open the page of the service in Chromium, and run the
# service on PostgreSQL.
set -euo pipefail
packages=()
python3 -c 'import venv, ensurepip' 2>/dev/null || packages+=(python3-venv)
{ ldconfig -p 2>/dev/null || true; } | grep -q 'libgmp\.so\.10' || packages+=(libgmp10)
command -v openssl >/dev/null || packages+=(openssl)
as_root=()
[[ $EUID == 0 ]] || as_root=(sudo)
if ((${#packages[@]})); then
  if ! command -v apt-get >/dev/null; then
    echo "error: the tests need ${packages[*]} (Debian's names); install them with this system's package manager" >&2
    exit 1
  fi
  "${as_root[@]}" apt-get update -qq && "${as_root[@]}" apt-get install -qq -y "${packages[@]}"
fi
if ! command -v chromium-headless-shell >/dev/null && ! command -v chromium >/dev/null; then
  # Not every system has the package.
  { "${as_root[@]}" apt-get update -qq && "${as_root[@]}" apt-get install -qq -y chromium-headless-shell; } ||
    echo "note: there is no Chromium, so the tests of the page do not run" >&2
fi
if ! compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null && ! command -v initdb >/dev/null; then
  # The tests start a server of their own, and need none of the system. Debian starts one unless this file says no.
  "${as_root[@]}" mkdir -p /etc/postgresql-common
  [[ -e /etc/postgresql-common/createcluster.conf ]] ||
    echo 'create_main_cluster = false' | "${as_root[@]}" tee /etc/postgresql-common/createcluster.conf >/dev/null
  { "${as_root[@]}" apt-get update -qq && "${as_root[@]}" apt-get install -qq -y --no-install-recommends postgresql; } ||
    echo "note: there is no PostgreSQL, so the tests of the service on it do not run" >&2
fi
for component in rustfmt clippy; do
  cargo "${component/rustfmt/fmt}" --version >/dev/null 2>&1 || rustup component add "$component"
done
