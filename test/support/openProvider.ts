/** A provider on loopback that tries nothing first and lets everybody in. */
export const OPEN_PROVIDER =
  '--json --check none --no-ssh-check --allow anyone --listen 127.0.0.1:0 --confinement shared'.split(' ')
