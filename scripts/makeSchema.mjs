#!/usr/bin/env node
// Writes docs/spec/*.json from the schemas the program itself decodes and serves with; --check only compares.
import { readFileSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import { nodeOpenApiDocument } from '../dist/apps/api/node/nodeOpenApiDocument.js'
import { openApiDocument } from '../dist/apps/api/openApiDocument.js'
import { benchReportSchema } from '../dist/core/bench/benchReport.js'
import { checkReportSchema, errorReportSchema, verifyReportSchema } from '../dist/core/certificate/reportSchemas.js'
import { statementSchema, statementVersion1 } from '../dist/core/certificate/statement.js'
import { summarySchema } from '../dist/core/certificate/summary.js'
import { programName } from '../dist/main/version.js'

const statement = (what) => `Touchstone ${what}: the in-toto statement inside the envelope`
const answers = z.union([verifyReportSchema, checkReportSchema, errorReportSchema])
const schemas = {
  'certificate.schema.json': [statement('certificate'), statementSchema],
  'certificate-1.schema.json': [statement('certificate'), statementVersion1],
  'summary.schema.json': [statement('summary'), summarySchema],
  'verdict.schema.json': [
    'Touchstone: what verify and check print with --json',
    answers,
    { io: 'input', reused: 'ref' },
  ],
  'bench.schema.json': ['Touchstone: what bench prints with --json', benchReportSchema, { io: 'input' }],
}
const texts = [
  ...Object.entries(schemas).map(([name, [title, schema, how]]) => [name, { title, ...z.toJSONSchema(schema, how) }]),
  ['openapi.json', openApiDocument(programName)],
  ['node-openapi.json', nodeOpenApiDocument(programName)],
]
for (const [name, content] of texts) {
  const path = new URL(`../docs/spec/${name}`, import.meta.url)
  const text = `${JSON.stringify(content, null, 2)}\n`
  if (!process.argv.includes('--check')) writeFileSync(path, text)
  else if (readFileSync(path, 'utf8') !== text) {
    console.error(`docs/spec/${name} is stale: run "npm run schema"`)
    process.exit(1)
  }
}
