import { openEmbedded } from '../../src/drivers/store/openEmbedded.ts'
import { openPostgres } from '../../src/drivers/store/openPostgres.ts'
import type { KillTarget } from '../suites/killSuite.ts'
import { embeddedFolder } from './embeddedFolder.ts'
import { startPostgres } from './postgresServer.ts'

export const postgresTarget: KillTarget = {
  make: async () => {
    const server = await startPostgres()
    await server.createDatabase('killed')
    const address = server.url('killed')
    return { address, open: () => openPostgres({ url: address }), end: () => server.end() }
  },
}

export const embeddedTarget: KillTarget = {
  make: async () => {
    const { folder, end } = await embeddedFolder()
    return { address: `embedded:${folder}`, open: () => openEmbedded({ folder }), end: async () => end() }
  },
}
