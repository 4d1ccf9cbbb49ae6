export interface PackedRelease {
  readonly directory: string
  readonly command: readonly string[]
  readonly files: readonly { readonly path: string; readonly bytes: number; readonly executable: boolean }[]
}

interface PackScripts {
  packLight(options: { root: string; to: string }): Promise<PackedRelease>
  packWithNode(options: { light: string; to: string; node?: string }): PackedRelease
  archiveFolder(options: { folder: string; name: string; files: PackedRelease['files']; to: string }): string
}

/** The release scripts are plain JavaScript: they run before anything is compiled. */
export async function packScripts(): Promise<PackScripts> {
  const load = (name: string) => import(new URL(`../../scripts/${name}.mjs`, import.meta.url).href)
  return { ...(await load('packProver')), ...(await load('archiveFolder')) } as PackScripts
}
