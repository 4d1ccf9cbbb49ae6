/** The code by which the system, or PostgreSQL, names an error; empty where it has none. */
export const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? '')
