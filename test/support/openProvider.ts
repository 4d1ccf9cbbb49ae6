/** A provider that tries nothing first and lets everybody in, wherever it is reached. */
export const TRUSTING_PROVIDER = '--json --check none --no-ssh-check --allow anyone --confinement shared'.split(' ')

/** The same on loopback. */
export const OPEN_PROVIDER = [...TRUSTING_PROVIDER, '--listen', '127.0.0.1:0']
