import { TouchstoneError } from '../../ports/errors.ts'

/** The validator asked for something out of turn: the prover says so and ends. */
export const wrongOrder = (what: string) =>
  new TouchstoneError(
    { code: 'WRONG_ORDER' },
    {
      message: `the validator sent ${what}`,
      blame: 'validator',
      retry: false,
      nextStep: 'Use one release on both sides.',
    },
  )
