#!/usr/bin/env node
// Writes docs/spec/*.schema.json from the schemas the program itself decodes with; --check only compares.
import { readFileSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import { statementSchema, statementVersion1 } from '../dist/core/certificate/statement.js'
import { summarySchema } from '../dist/core/certificate/summary.js'

const schemas = {
  'certificate.schema.json': ['certificate', statementSchema],
  'certificate-1.schema.json': ['certificate', statementVersion1],
  'summary.schema.json': ['summary', summarySchema],
}
for (const [name, [what, schema]] of Object.entries(schemas)) {
  const title = `Touchstone ${what}: the in-toto statement inside the envelope`
  const path = new URL(`../docs/spec/${name}`, import.meta.url)
  const text = `${JSON.stringify({ title, ...z.toJSONSchema(schema) }, null, 2)}\n`
  if (!process.argv.includes('--check')) writeFileSync(path, text)
  else if (readFileSync(path, 'utf8') !== text) {
    console.error(`docs/spec/${name} is stale: run "npm run schema"`)
    process.exit(1)
  }
}
