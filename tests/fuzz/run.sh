#!/bin/sh
# Runs every fuzz target for so many seconds (60 unless given), from the seeds kept here. Without
# the nightly toolchain or cargo-fuzz it says so and succeeds: the gate runs it only where they are.
set -eu
cd "$(dirname "$0")"
seconds=${1:-60}
shift $(($# > 0 ? 1 : 0))
if ! cargo +nightly fuzz --version >/dev/null 2>&1; then
    echo "skipped: needs the nightly toolchain and cargo-fuzz (see README.md)"
    exit 0
fi
for target in ${*:-decode poison patch}; do
    mkdir -p "corpus/$target"
    cargo +nightly fuzz run --fuzz-dir . "$target" "corpus/$target" seeds -- \
        -max_total_time="$seconds" -dict=json.dict -max_len=4096 -timeout=10 -print_final_stats=1
done
