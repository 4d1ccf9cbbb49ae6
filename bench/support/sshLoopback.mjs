import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ssh2 from 'ssh2'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** What a login shell would set on a box with a card, and what decides which libraries are found there. */
const PASSED_ON = ['LD_LIBRARY_PATH', 'CUDA_HOME', 'CUDA_PATH', 'CUDA_CACHE_PATH', 'VIRTUAL_ENV', 'TOUCHSTONE_CUBLASLT']

/**
 * A box on loopback: a real OpenSSH where there is one (TOUCHSTONE_SSHD names it, else /usr/sbin/sshd), otherwise the SSH
 * server of the tests. `hasNode` says whether those who log in find a Node.
 */
export async function startLoopbackBox({ folder, hasNode }) {
  const home = join(folder, 'home')
  mkdirSync(home, { recursive: true })
  const [host, own] = await Promise.all([keyPair(), keyPair()])
  const identity = join(folder, 'id')
  writeFileSync(identity, own.private, { mode: 0o600 })
  const passed = PASSED_ON.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []))
  const path = hasNode ? `${dirname(process.execPath)}:${process.env.PATH}` : pathWithoutNode(join(folder, 'bin'))
  const env = { ...Object.fromEntries(passed), PATH: path }
  const wanted = { folder: join(folder, 'server'), home, hostKey: host.private, env }
  const { server, program, whyNotOpenSsh } = await startServer(wanted, own)
  const address = (port) => `ssh://${server.user}@127.0.0.1:${port}`
  return {
    home,
    identity,
    program,
    whyNotOpenSsh,
    address: address(server.directPort ?? server.port),
    cuttableAddress: address(server.port),
    cut: server.cut,
    close: server.close,
  }
}

/** Ours: one in 256 that ssh2 makes cannot be read. */
async function keyPair() {
  const { openSshKey } = await import('../../dist/drivers/remote/leased/openSshKey.js')
  const { privateKey, publicLine } = openSshKey(randomBytes(32))
  return { private: privateKey, public: publicLine }
}

async function startServer(wanted, own) {
  const sshd = process.env.TOUCHSTONE_SSHD || '/usr/sbin/sshd'
  let whyNotOpenSsh = existsSync(sshd) ? null : 'there is no sshd'
  if (whyNotOpenSsh === null)
    try {
      const { startOpenSsh } = await importTs('test/support/openSshServer.ts')
      const server = await startOpenSsh({ ...wanted, authorizedKeys: own.public })
      await logIn(server, own.private).catch(async (error) => {
        await server.close()
        throw error
      })
      const said = spawnSync(sshd, ['-V'], { encoding: 'utf8' }).stderr ?? ''
      return { server, program: /OpenSSH_[^\s,]+/.exec(said)?.[0] ?? 'OpenSSH', whyNotOpenSsh }
    } catch (error) {
      whyNotOpenSsh = String(error.message).slice(0, 300)
    }
  const { startSshServer } = await importTs('test/support/sshServer.ts')
  const server = await startSshServer({ ...wanted, authorizedKey: own.public, user: userInfo().username })
  const { version } = createRequire(import.meta.url)('ssh2/package.json')
  return { server, program: `ssh2 ${version}`, whyNotOpenSsh }
}

/** Some accounts are locked, and some machines let nobody in: better known now than in every step. */
function logIn({ user, directPort }, privateKey) {
  return new Promise((resolve, reject) => {
    const client = new ssh2.Client()
    client.once('error', (error) => reject(new Error(`sshd lets nobody in: ${error.message}`)))
    client.once('ready', () => {
      client.end()
      resolve()
    })
    client.connect({ host: '127.0.0.1', port: directPort, username: user, privateKey, readyTimeout: 10_000 })
  })
}

/** Everything on the system's path but Node. */
function pathWithoutNode(folder) {
  mkdirSync(folder)
  for (const from of ['/usr/bin', '/bin', '/usr/sbin', '/sbin'])
    for (const name of existsSync(from) ? readdirSync(from) : [])
      if (!/^node(js)?$/.test(name) && !existsSync(join(folder, name)))
        try {
          symlinkSync(join(from, name), join(folder, name))
        } catch {
          // A dangling link of the same name is there already.
        }
  return folder
}

/** From Node 22.18 on TypeScript is read as it is; before that it is compiled first. */
async function importTs(path) {
  try {
    return await import(join(root, path))
  } catch (error) {
    if (error.code !== 'ERR_UNKNOWN_FILE_EXTENSION') throw error
  }
  const { build } = await import('esbuild')
  const outfile = join(root, '.build', path.replace(/\.ts$/, '.mjs'))
  const options = { bundle: true, platform: 'node', format: 'esm', packages: 'external', logLevel: 'error' }
  await build({ ...options, entryPoints: [join(root, path)], outfile })
  return await import(outfile)
}
