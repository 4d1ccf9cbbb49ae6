import type { Command } from 'commander'
import type { CommandContext } from './run.ts'

type AddCommand = (program: Command, context: CommandContext) => void

/** Each command loads only what it needs: a check does not wait for SSH or a database to load. */
export const COMMANDS: Readonly<Record<string, () => Promise<AddCommand>>> = {
  verify: async () => (await import('./verify/verifyCommand.ts')).addVerifyCommand,
  check: async () => (await import('./check/checkCommand.ts')).addCheckCommand,
  report: async () => (await import('./report/reportCommand.ts')).addReportCommand,
  bench: async () => (await import('./bench/benchCommand.ts')).addBenchCommand,
  validator: async () => (await import('./validator/validatorCommand.ts')).addValidatorCommand,
  ledger: async () => (await import('./ledger/ledgerCommand.ts')).addLedgerCommand,
  chain: async () => (await import('./chain/chainCommand.ts')).addChainCommand,
  project: async () => (await import('./chain/projectCommand.ts')).addProjectCommand,
  faucet: async () => (await import('./chain/faucetCommand.ts')).addFaucetCommand,
  wallet: async () => (await import('./wallet/walletCommand.ts')).addWalletCommand,
  rent: async () => (await import('./rent/rentCommand.ts')).addRentCommand,
  work: async () => (await import('./work/workCommand.ts')).addWorkCommand,
  simulate: async () => (await import('./simulate/simulateCommand.ts')).addSimulateCommand,
  node: async () => (await import('./node/nodeCommand.ts')).addNodeCommand,
  provider: async () => (await import('./provider/providerCommand.ts')).addProviderCommand,
}
