import { z } from '@hono/zod-openapi'
import { problemSchema } from './problem.ts'

/** An answer in JSON, as the document describes it. */
export const json = <T extends z.ZodType>(schema: T, description: string) => ({
  content: { 'application/json': { schema } },
  description,
})

export const text = (type: string, description: string) => ({
  content: { [type]: { schema: z.string() } },
  description,
})

export const body = <T extends z.ZodType>(schema: T) => ({
  body: { content: { 'application/json': { schema } }, required: true },
})

export const refused = (description: string) => json(problemSchema, description)
