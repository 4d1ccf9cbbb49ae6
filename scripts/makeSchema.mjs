#!/usr/bin/env node
// Writes docs/spec/certificate.schema.json from the schema the program itself decodes with; --check only compares.
import { readFileSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import { statementSchema } from '../dist/core/certificate/statement.js'

const path = new URL('../docs/spec/certificate.schema.json', import.meta.url)
const text = `${JSON.stringify({ title: 'Touchstone certificate: the in-toto statement inside the envelope', ...z.toJSONSchema(statementSchema) }, null, 2)}\n`
if (!process.argv.includes('--check')) writeFileSync(path, text)
else if (readFileSync(path, 'utf8') !== text) {
  console.error('docs/spec/certificate.schema.json is stale: run "npm run schema"')
  process.exit(1)
}
