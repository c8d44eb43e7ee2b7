#!/usr/bin/env bash
# A gate for CI: fails (exit 3) unless the new kernel is 30 % faster, and leaves a page to post.
#
#   examples/gate.sh [BASE NEW [PAGE]]
set -euo pipefail
cd "$(dirname "$0")/.."
base="${1:-traces/zyfa_gap_exact}" new="${2:-traces/zyfa_pingpong_lean}"
page="${3:-${TMPDIR:-/tmp}/tracekit_page.md}"
tracekit check --strict "$base" "$new" >/dev/null
tracekit compare "$base" "$new" --require "cycles<=-30%" --force -o "$page"
tracekit occupancy "$new" --fail-under 95 >/dev/null
echo "passed; the page is $page"
