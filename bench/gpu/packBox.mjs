#!/usr/bin/env node
// Packs bench/gpu/overSsh.mjs with all that it needs for a machine with a card but without Node, network or an SSH server:
// node bench/gpu/packBox.mjs FOLDER [--node PATH]. Writes FOLDER/box.tar.xz and FOLDER/start.sh, which unpacks and runs it.
// Linux on x86-64; packs the OpenSSH of this machine with its libraries where there is one. The Node must be of at least
// 22.18 and is stored once: the release that carries a Node and the program itself share it.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { packWithNode } from '../../scripts/packProver.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const { values, positionals } = parseArgs({
  options: { node: { type: 'string', default: process.execPath } },
  allowPositionals: true,
})
const [out] = positionals
if (out === undefined) throw new Error('name the folder to write to')

const FILES = [
  'package.json',
  'LICENSE',
  'dist',
  'kernels/built',
  'catalogue',
  'bench/gpu/overSsh.mjs',
  'bench/gpu/holdMemory.mjs',
  'bench/support/cardState.mjs',
  'bench/support/runTouchstone.mjs',
  'bench/support/sshLoopback.mjs',
  'test/support/openSshServer.ts',
  'test/support/sshServer.ts',
  'test/support/sftpFolder.ts',
]
/** What `touchstone verify` and `bench` load. The store and the API of a validator stay out. */
const PACKAGES = ['@noble/curves', '@noble/hashes', 'commander', 'koffi', 'picocolors', 'ssh2', 'ws', 'yaml', 'zod']

const START = `#!/bin/sh
# Unpacks what lies beside it and runs bench/gpu/overSsh.mjs with the arguments given. Where the machine has no sshd, the
# one in the archive is used; as root that wants an account named sshd, which is added to /etc/passwd.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
to=$(mktemp -d)
trap 'rm -rf "$to"' EXIT
tar -xJf "$here/box.tar.xz" -C "$to" 2>/dev/null ||
  python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$here/box.tar.xz" "$to"
if [ ! -x /usr/sbin/sshd ] && [ -x "$to/sshd/sshd" ]; then
  if [ "$(id -u)" = 0 ] && ! grep -q '^sshd:' /etc/passwd; then
    echo 'sshd:x:65533:65534::/run/sshd:/usr/sbin/nologin' >> /etc/passwd
  fi
  TOUCHSTONE_SSHD=$to/sshd/sshd
  export TOUCHSTONE_SSHD
fi
"$to/bin/node" "$to/app/bench/gpu/overSsh.mjs" "$@"
`

/** Its own libraries and loader, so that it is the program that was built and tested together; -r: no second start. */
const SSHD = `#!/bin/sh
here=\${0%/*}
exec "$here/lib/ld-linux-x86-64.so.2" --library-path "$here/lib" "$here/sshd.bin" -r "$@"
`

function run(program, args) {
  const { status } = spawnSync(program, args, { stdio: 'inherit' })
  if (status !== 0) throw new Error(`${program} ended with ${status}`)
}

function withDependencies(names) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const found = new Set()
  const add = (name) => {
    const path = `node_modules/${name}`
    if (found.has(path) || !existsSync(join(root, path))) return
    found.add(path)
    // Of the optional ones only koffi's native part is needed; those of ssh2 are built for another Node.
    const optional = name === 'koffi' ? Object.keys(packages[path].optionalDependencies ?? {}) : []
    for (const next of [...Object.keys(packages[path].dependencies ?? {}), ...optional]) add(next)
  }
  names.forEach(add)
  return [...found]
}

function packApp(to) {
  for (const path of [...FILES, ...withDependencies(PACKAGES)])
    cpSync(join(root, path), join(to, path), {
      recursive: true,
      filter: (from) => !/\/build\/|\.map$|\.d\.[cm]?ts$/.test(from) || from.includes('/kernels/'),
    })
}

function packSshd(to) {
  const sshd = '/usr/sbin/sshd'
  if (!existsSync(sshd)) return console.log(`${sshd} is not here: the SSH server of the tests will serve`)
  mkdirSync(join(to, 'lib'), { recursive: true })
  copyFileSync(sshd, join(to, 'sshd.bin'))
  const needed = spawnSync('ldd', [sshd], { encoding: 'utf8' }).stdout
  for (const [path] of needed.matchAll(/\/\S+\.so\S*/g)) copyFileSync(path, join(to, 'lib', basename(path)))
  writeFileSync(join(to, 'sshd'), SSHD)
  for (const name of ['sshd', 'sshd.bin', 'lib/ld-linux-x86-64.so.2']) chmodSync(join(to, name), 0o755)
}

run(process.execPath, [join(root, 'scripts/build.mjs')])
const stage = mkdtempSync(join(tmpdir(), 'touchstone-pack-'))
try {
  packApp(join(stage, 'app'))
  const carried = join(stage, 'app/release/prover-node')
  packWithNode({ light: join(root, 'dist/release/prover-light'), to: carried, node: values.node })
  mkdirSync(join(stage, 'bin'))
  linkSync(join(carried, 'bin/node'), join(stage, 'bin/node'))
  packSshd(join(stage, 'sshd'))
  mkdirSync(out, { recursive: true })
  const archive = join(out, 'box.tar.xz')
  run('tar', ['-C', stage, '-cJf', archive, '--sort=name', '--owner=0', '--group=0', '.'])
  writeFileSync(join(out, 'start.sh'), START)
  chmodSync(join(out, 'start.sh'), 0o755)
  console.log(`${archive}: ${(statSync(archive).size / 2 ** 20).toFixed(1)} MiB; then: sh ${join(out, 'start.sh')}`)
} finally {
  rmSync(stage, { recursive: true, force: true })
}
