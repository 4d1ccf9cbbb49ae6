/** In a file of a state: how many steps made it. */
export const DONE = 'touchstone.done'
/** Beside weights: the roots of their moments, in the order of the state. */
export const MOMENT_ROOTS = 'touchstone.momentRoots'

/** Whether a tensor of the state is a moment of a parameter, and no parameter. */
export const isMoment = (name: string): boolean => name.includes('/')
