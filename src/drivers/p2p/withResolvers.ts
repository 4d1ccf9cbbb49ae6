// libp2p calls Promise.withResolvers, which Node has from version 22 on. Loaded before it.
interface WithResolvers {
  withResolvers?: <T>() => {
    promise: Promise<T>
    resolve: (value: T | PromiseLike<T>) => void
    reject: (reason?: unknown) => void
  }
}

const promises: WithResolvers & { readonly prototype: object } = Promise
promises.withResolvers ??= <T>() => {
  let resolve: (value: T | PromiseLike<T>) => void = () => {}
  let reject: (reason?: unknown) => void = () => {}
  const promise = new Promise<T>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}
