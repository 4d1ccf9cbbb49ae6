// What we use of LevelDB: the slice keeps the driver to it.

declare module 'classic-level' {
  type Operation =
    | { readonly type: 'put'; readonly key: string; readonly value: Uint8Array }
    | { readonly type: 'del'; readonly key: string }

  export class ClassicLevel {
    constructor(folder: string, options: { readonly keyEncoding: 'utf8'; readonly valueEncoding: 'view' })
    open(): Promise<void>
    close(): Promise<void>
    get(key: string): Promise<Uint8Array | undefined>
    keys(range: { readonly gte: string; readonly lt: string }): { all(): Promise<string[]> }
    /** All of them or none; `sync` returns when they would survive a power cut. */
    batch(operations: readonly Operation[], options: { readonly sync: true }): Promise<void>
  }
}
