#!/usr/bin/env bash
# The real-Nova suite on the oldest, the middle and the newest Nova that people run: 26 (which has no 2.95), 31 and 34.
# Each has its own root file system; one is up at a time. Needs root; each takes some minutes to build the first time.
set -euo pipefail
cd "$(dirname "$0")/../.."
export LIFEBOAT_LAB_FAKE_GUESTS=1
npm run -s build
releases=(bookworm trixie sid)
for suite in "${releases[@]}"; do LAB_SUITE=$suite test/lab/lab setup; done
for suite in "${releases[@]}"; do
  echo "== $suite"
  for other in "${releases[@]}"; do LAB_SUITE=$other test/lab/lab down; done
  export LAB_SUITE=$suite
  test/lab/lab up 4
  npx vitest run --config vitest.nova.config.ts
done
LAB_SUITE=$suite test/lab/lab down
