import { expect, test } from 'vitest'
import { noRoom } from './noRoom.ts'

test('attack 459: no box is to blame for a limit of this machine', () => {
  for (const code of ['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'ERR_WORKER_INIT_FAILED'])
    expect(noRoom('ws://box', Object.assign(new Error(), { code }))?.detail).toMatchObject({ code: 'NO_ROOM_TO_DIAL' })
  for (const code of ['ECONNREFUSED', 'ENOTFOUND', 24, undefined])
    expect(noRoom('ws://box', Object.assign(new Error(), { code }))).toBeNull()
})
