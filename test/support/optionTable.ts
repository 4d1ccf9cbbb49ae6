/** One command: what each of its options is for, and which of them are refused in which of its modes. */
export interface OptionRow {
  /** What must not end with 0, and the file that tries it. */
  readonly judges?: Readonly<Record<string, readonly [string, string]>>
  /** What is done, where and with what: names of flags, separated by blanks. */
  readonly chooses?: string
  /** Output alone. */
  readonly shows?: string
  /** Command lines, each with the flags that are refused beside it because one of the two would do nothing. */
  readonly modes: Readonly<Record<string, string>>
}

const SSH = 'identity hostKey node keep'
const VENDORS = 'policy rim ocsp crl collateral'
const BOX = 'root@203.0.113.7'
const LEASE = `lease://203.0.113.7:7878#${'ab'.repeat(32)}`

const CLI = 'test/e2e/cli.test.ts'
const RENTING = 'test/e2e/renting.test.ts'
const ATTESTATION = 'src/main/check/attestation.test.ts'
const ATTESTED_WORK = 'test/e2e/attestedWork.test.ts'
const NODE_API = 'src/apps/api/node/nodeApi.test.ts'

const HOST_KEY = ['a box that shows another key', 'test/e2e/verifySsh.test.ts'] as const
const LEADS_ELSEWHERE = [
  'a lease that leads outside of them',
  'src/drivers/remote/leased/connectLeased.test.ts',
] as const

const worked = {
  judges: {
    hostKey: HOST_KEY,
    policy: ['evidence that does not show what it asks for', ATTESTED_WORK],
    rim: ['firmware that is in none of them', ATTESTED_WORK],
    ocsp: ['a chip that is revoked', ATTESTED_WORK],
    crl: ['a processor that is revoked', ATTESTATION],
    collateral: ['a processor that Intel calls out of date', ATTESTATION],
    replicas: ['too few that come to the same', 'test/e2e/disputes.test.ts'],
    segmentLimit: ['a segment that takes longer', 'src/apps/work/watchWork.test.ts'],
  },
  chooses: 'identity node keep method on receipt evidence inputs out',
  shows: 'json',
} as const

const ATTESTED = `evidence ${VENDORS}`

/** Modes that every kind of work has; `idle` is refused in each of them. */
const workModes = (line: string, idle: string) => ({
  [line]: `${SSH} ${ATTESTED} ${idle}`,
  [`${line} --on ${BOX}`]: `${ATTESTED} ${idle}`,
  [`${line} --on ${LEASE}`]: `${SSH} ${ATTESTED} ${idle}`,
  [`${line} --on ${BOX} --on ${LEASE}`]: `hostKey replicas ${ATTESTED} ${idle}`,
  [`${line} --method attest`]: `${SSH} ${idle}`,
})

const asked = (more: string) => ({ chooses: `node ${more}`, shows: 'json' })
const onProject = (more: string, line: string): OptionRow => ({
  judges: {
    chain: ['a node of another chain', NODE_API],
    wait: ['a transaction that another one replaced', NODE_API],
  },
  chooses: `node from passwordFile ${more}`,
  shows: 'json',
  modes: { [`${line} --from main`]: '', [`${line} --from devnet:3`]: 'passwordFile' },
})

/** Commands that run something, with the options of each. Those that read evidence have their own tests. */
export const OPTION_TABLE: Readonly<Record<string, OptionRow>> = {
  verify: {
    judges: {
      claim: ['a box that is not that', CLI],
      limit: ['a box that takes longer', CLI],
      hostKey: HOST_KEY,
      leaseNetworks: LEADS_ELSEWHERE,
      policy: ['evidence that does not show what it asks for, or none', CLI],
      rim: ['firmware that is in none of them', ATTESTATION],
      ocsp: ['a chip that is revoked', ATTESTATION],
      crl: ['a processor that is revoked, or none', CLI],
      collateral: ['a processor that Intel calls out of date, or none', CLI],
    },
    chooses:
      'preset precisions openings partSeconds duration size devices maxDevices memory bind measureHost out address validFor summary identity node keep',
    shows: 'verbose json',
    modes: {
      verify: `${SSH} address leaseNetworks`,
      [`verify ${BOX}`]: 'leaseNetworks',
      [`verify ssh -p 2222 ${BOX}`]: 'leaseNetworks',
      [`verify ${LEASE}`]: SSH,
    },
  },
  bench: {
    judges: {
      claim: ['cards that are not those', 'test/e2e/bench.test.ts'],
      against: ['a run that is slower, or cannot be compared', 'test/e2e/bench.test.ts'],
      tolerance: ['a run that is slower by more', 'test/e2e/bench.test.ts'],
    },
    chooses: 'precisions seconds size devices html work model steps',
    shows: 'json',
    modes: {
      bench: 'tolerance model steps',
      'bench --against before.json': 'work model steps',
      'bench --work train': 'precisions seconds size claim against tolerance html',
    },
  },
  'work run matmul': {
    ...worked,
    chooses: `${worked.chooses} code`,
    modes: {
      ...workModes('work run matmul a.npy b.npy', 'code'),
      'work run matmul a.npy b.npy --method sumcheck': `${SSH} ${ATTESTED}`,
      'work run matmul a.npy b.npy --method zk': `${SSH} ${ATTESTED} on replicas segmentLimit inputs code`,
    },
  },
  'work run classify': {
    chooses: 'method out receipt',
    shows: 'json',
    modes: { 'work run classify weights.npy inputs.npy': '' },
  },
  'work run train': {
    ...worked,
    chooses: `${worked.chooses} family hidden layers width heads tokens sequences steps shards rate products from state`,
    modes: {
      ...workModes('work run train book.txt', 'hidden products'),
      ...workModes('work run train --family mlp', 'layers width heads tokens products'),
      'work run train book.txt --method sumcheck': `${SSH} ${ATTESTED} hidden`,
    },
  },
  'work run infer': {
    ...worked,
    chooses: `${worked.chooses} model prompt prompts tokens temperature seed`,
    modes: {
      ...workModes('work run infer --model gpt2', 'seed'),
      ...workModes('work run infer --model gpt2 --temperature 1', ''),
    },
  },
  'work run simulate': {
    ...worked,
    chooses: `${worked.chooses} size steps interval viscosity speed noise obstacle walls pictures frames`,
    modes: {
      ...workModes('work run simulate', 'frames'),
      'work run simulate --pictures flow': `${SSH} ${ATTESTED}`,
    },
  },
  'work run render': {
    ...worked,
    chooses: `${worked.chooses} width height samples bounces zenith horizon`,
    modes: workModes('work run render scene.glb', ''),
  },
  provider: {
    judges: {
      claim: ['a box that does not show it', 'test/e2e/provider.test.ts'],
      requirements: ['a box that has less', 'test/e2e/provider.test.ts'],
      allow: ['a key that is not named', RENTING],
      allowRent: ['a key that is not named', RENTING],
    },
    chooses:
      'listen dialOut sshHost sshPort hostKeyFile authorizedKeys confinement image gpuFlags check devices sshCheck',
    shows: 'json verbose',
    modes: {
      'provider --allow anyone': 'gpuFlags',
      'provider --allow anyone --check none': 'devices requirements claim gpuFlags verbose',
      [`provider --allow anyone --dial-out wss://hub.example.org/lease#${'ab'.repeat(32)}`]: 'listen gpuFlags',
      'provider --allow anyone --confinement shared': 'image gpuFlags',
      'provider --allow anyone --confinement account': 'image gpuFlags authorizedKeys',
      'provider --allow anyone --confinement container --image debian': '',
    },
  },
  'provider status': { shows: 'json', modes: { 'provider status': '', 'provider --json status': 'json' } },
  'provider allow': { chooses: 'file to', shows: 'json', modes: { [`provider allow ${'ab'.repeat(32)}`]: '' } },
  'provider deny': { chooses: 'file', shows: 'json', modes: { [`provider deny ${'ab'.repeat(32)}`]: '' } },
  'provider revoke': { chooses: 'deny', shows: 'json', modes: { 'provider revoke': '' } },
  'provider stop': { shows: 'json', modes: { 'provider stop': '' } },
  validator: { chooses: 'config', shows: 'json', modes: { validator: '' } },
  'validator stop': {
    chooses: 'config',
    shows: 'json',
    modes: { 'validator stop': '', 'validator --config a.yaml stop': 'config' },
  },
  'validator alive': { shows: 'json', modes: { [`validator alive ${LEASE}`]: '' } },
  'validator status': {
    chooses: 'config status provider claimVerdict',
    shows: 'json sort',
    modes: { 'validator status': '', 'validator --config a.yaml status': 'config' },
  },
  'validator backup': { chooses: 'config', shows: 'json', modes: { 'validator backup copy': '' } },
  'validator restore': { chooses: 'config', shows: 'json', modes: { 'validator restore copy': '' } },
  'validator call': { chooses: 'config', shows: 'json', modes: { 'validator call GET /v1/boxes': '' } },
  rent: {
    judges: {
      proof: ['a box that the file is not of, or that it refutes', RENTING],
      claim: ['a proof that does not show it', RENTING],
      full: ['a certificate that the summary is not of', CLI],
      trust: ['a proof that none of them signed', RENTING],
      leaseNetworks: LEADS_ELSEWHERE,
    },
    chooses: 'hours key unproven end',
    shows: 'json verbose',
    modes: {
      [`rent ${LEASE} --hours 2`]: 'full claim unproven trust verbose end',
      [`rent ${LEASE} --hours 2 --proof certificate.json`]: 'end',
      [`rent ${LEASE} --end`]: 'hours key proof full claim unproven trust leaseNetworks verbose',
    },
  },
  node: {
    judges: {
      checkpoint: ['a folder whose chain does not have that block', 'src/apps/node/node.test.ts'],
      genesis: ['a folder with another chain', 'test/e2e/nodeFaults.test.ts'],
    },
    chooses: 'data host port bootstrap authorities key passwordFile api drill prune discovery',
    shows: 'json',
    modes: {
      'node --data empty': '',
      'node --data there': 'authorities',
      'node --data empty --bootstrap 127.0.0.1:4040': 'authorities',
      'node --data empty --genesis genesis.json': 'authorities',
      'node --data empty --genesis devnet': '',
      'node --data empty --key none': 'drill passwordFile',
      'node --data empty --key devnet:1': 'passwordFile',
      'node --data empty --no-api': 'api',
    },
  },
  'wallet new': { chooses: 'kind from passwordFile', shows: 'json', modes: { 'wallet new': '' } },
  'wallet show': { shows: 'json', modes: { 'wallet show': '' } },
  'wallet list': { shows: 'json', modes: { 'wallet list': '' } },
  'wallet send': {
    judges: {
      chain: ['a node of another chain', NODE_API],
      wait: ['a payment that another one replaced', NODE_API],
    },
    chooses: 'from node passwordFile',
    shows: 'json',
    modes: { [`wallet send ${'ab'.repeat(32)} 1`]: '' },
  },
  'wallet password': { chooses: 'passwordFile newPasswordFile', modes: { 'wallet password': '' } },
  'chain head': { ...asked(''), modes: { 'chain head': '' } },
  'chain block': { ...asked(''), modes: { 'chain block head': '' } },
  'chain account': { ...asked('at'), modes: { 'chain account key': '' } },
  'chain score': { ...asked('at'), modes: { 'chain score box': '' } },
  'chain projects': { ...asked('at'), modes: { 'chain projects': '' } },
  'chain works': { ...asked('at'), modes: { 'chain works': '' } },
  'chain work': { ...asked('at'), modes: { 'chain work id': '' } },
  'chain watch': { ...asked(''), modes: { 'chain watch': '' } },
  'project new': onProject('work depth about', 'project new --work 310 --depth 4'),
  'project vote': onProject('utility', 'project vote 1 --utility 1'),
  'project publish': onProject('count', 'project publish 1 --count 8'),
  faucet: {
    judges: { wait: ['a payment that another one replaced', NODE_API] },
    ...asked('amount'),
    modes: { faucet: '' },
  },
  simulate: {
    chooses: 'seed seeds nodes slots whole real out',
    shows: 'json',
    modes: {
      'simulate all': '',
      'simulate blocks': 'seeds nodes whole',
      'simulate large': 'seeds whole',
      'simulate finality': 'seeds nodes slots whole',
      'simulate byzantine': 'nodes out',
      'simulate joining': 'nodes slots whole',
      'simulate adversaries': 'nodes whole out',
      'simulate attacks': 'seeds nodes whole',
      'simulate drilling': 'seeds nodes whole real',
      'simulate scores': 'seeds nodes slots whole real',
      'simulate economy': 'seed seeds nodes slots whole real',
      'simulate grinding': 'seeds nodes slots whole',
    },
  },
  'ledger deploy': {
    judges: {
      chainId: ['a node of another chain', 'test/e2e/ledger.test.ts'],
      maxFee: ['a chain that asks for more', 'src/drivers/ledger/evm/evmLedger.test.ts'],
    },
    chooses: 'rpc key passwordFile',
    shows: 'json',
    modes: { 'ledger deploy --rpc http://127.0.0.1:8545 --chain-id 1 --key evm.key': '' },
  },
}
