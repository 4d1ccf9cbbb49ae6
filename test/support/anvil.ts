import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { deployRounds } from '../../src/drivers/ledger/evm/deployRounds.ts'
import { evmAccount } from '../../src/drivers/ledger/evm/evmAccount.ts'
import type { EvmSettings } from '../../src/drivers/ledger/evm/evmLedger.ts'
import { systemClock } from '../../src/drivers/system/systemClock.ts'

/** The program of the package for this machine, or null. */
function findAnvil(): string | null {
  const machine = `${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`
  try {
    const file = createRequire(import.meta.url).resolve(`@foundry-rs/anvil-${machine}/package.json`)
    const program = file.replace('package.json', process.platform === 'win32' ? 'bin/anvil.exe' : 'bin/anvil')
    return existsSync(program) ? program : null
  } catch {
    return null
  }
}

const program = findAnvil()
export const hasAnvil = program !== null
export const NO_ANVIL = 'anvil is not installed for this machine (npm install)'

/** The first account that anvil gives funds to; its key is public. */
export const RICH = evmAccount(Buffer.from('ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80', 'hex'))

export interface Anvil {
  readonly url: string
  /** A call of the node, beyond what the ledger asks. */
  call(method: string, ...params: readonly unknown[]): Promise<unknown>
  end(): Promise<void>
}

/** A real EVM on loopback. A block is final when two are on top of it. */
export async function startAnvil(...options: readonly string[]): Promise<Anvil> {
  const child = spawn(program!, ['--port', '0', '--slots-in-an-epoch', '1', ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  const at = await new Promise<string>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`anvil ended with ${code}`)))
    child.stdout.on('data', (chunk: Buffer) => {
      said = `${said}${chunk}`.slice(-4096)
      const found = /Listening on (\S+)\n/.exec(said)
      if (found) resolve(found[1]!)
    })
  })
  const url = `http://${at}`
  return {
    url,
    async call(method, ...params) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      const answer = await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
      const { result, error } = (await answer.json()) as { result?: unknown; error?: { message: string } }
      if (error) throw new Error(error.message)
      return result
    },
    end: () =>
      new Promise((resolve) => {
        child.removeAllListeners('exit')
        child.once('exit', () => resolve())
        child.kill('SIGKILL')
      }),
  }
}

/** Settings for a fresh contract there. */
export async function deployedOn({ url }: Pick<Anvil, 'url'>, more: Partial<EvmSettings> = {}): Promise<EvmSettings> {
  const settings = { urls: [url], chainId: 31_337, maxFeeGwei: 100, final: 'finalized' as const }
  const { contract } = await deployRounds(settings, RICH, systemClock, new AbortController().signal)
  return { ...settings, contract, ...more }
}
