#!/usr/bin/env node
// Compiles contracts/TouchstoneRounds.sol to contracts/built/, which is committed: a user needs no compiler.
// `--check` compiles and compares instead of writing. The compiler is pinned in package.json; another one makes other bytes.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import solc from 'solc'

const NAME = 'TouchstoneRounds'
const sourceUrl = new URL(`${NAME}.sol`, import.meta.url)
const builtUrl = new URL(`built/${NAME}.json`, import.meta.url)
const sumsUrl = new URL('built/SHA256SUMS', import.meta.url)

function compile() {
  const input = {
    language: 'Solidity',
    sources: { [`${NAME}.sol`]: { content: readFileSync(sourceUrl, 'utf8') } },
    settings: {
      optimizer: { enabled: true, runs: 1000 },
      // What every EVM chain in use runs; and no hash of the source in the code, so that a comment changes no byte.
      evmVersion: 'paris',
      metadata: { bytecodeHash: 'none', appendCBOR: false },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.methodIdentifiers'] } },
    },
  }
  const output = JSON.parse(solc.compile(JSON.stringify(input)))
  for (const { formattedMessage } of output.errors ?? []) throw new Error(formattedMessage)
  const { abi, evm } = output.contracts[`${NAME}.sol`][NAME]
  return `${JSON.stringify({ compiler: solc.version(), abi, methods: evm.methodIdentifiers, bytecode: `0x${evm.bytecode.object}` }, null, 2)}\n`
}

const text = compile()
const sumOf = (content) => createHash('sha256').update(content).digest('hex')
const sums = `${sumOf(text)}  ${NAME}.json\n${sumOf(readFileSync(sourceUrl))}  ../${NAME}.sol\n`
if (process.argv[2] === '--check') {
  const same = readFileSync(builtUrl, 'utf8') === text && readFileSync(sumsUrl, 'utf8') === sums
  console.log(`${NAME}.json ${same ? 'matches' : 'DIFFERS'}`)
  process.exit(same ? 0 : 1)
}
mkdirSync(new URL('built/', import.meta.url), { recursive: true })
writeFileSync(builtUrl, text)
writeFileSync(sumsUrl, sums)
