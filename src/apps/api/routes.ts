import { createRoute, type RouteConfig, z } from '@hono/zod-openapi'
import { boxId } from '../../core/schedule/fleetRecords.ts'
import { body, json, refused, text } from './routeParts.ts'
import {
  allocationSchema,
  askedSchema,
  backupSchema,
  boxesQuery,
  boxSchema,
  boxSummarySchema,
  doneSchema,
  healthSchema,
  keptRoundSchema,
  newBoxSchema,
  numberedQuery,
  paged,
  pageQuery,
  provider,
  resultSchema,
  resultSummarySchema,
  roundSchema,
  scoreProofSchema,
  specSchema,
  statisticsSchema,
  statusSchema,
} from './schemas.ts'

/** What any request may meet. */
const always = {
  429: refused('This asker has too many requests, or too many pages that it has not read.'),
  500: refused('The validator made a mistake; its log has it.'),
  503: refused('The store does not answer, or too many people read at once.'),
}
const badly = { 400: refused('A field is missing or of another form.') }
const missing = { 404: refused('There is none.') }
const signed = { 401: refused('Not signed by a known key.'), 413: refused('The body is too long.') }

/** What these routes are about, for whoever reads the document. */
export const TAGS = [
  { name: 'boxes', description: 'The fleet, box by box.' },
  { name: 'results', description: 'What runs have shown, with the signed evidence.' },
  { name: 'fleet', description: 'The whole fleet and the validator that keeps it.' },
  { name: 'watch', description: 'For those who watch the validator itself.' },
] as const
type Tag = (typeof TAGS)[number]['name']

interface Described<R, A> {
  readonly tag: Tag
  readonly summary: string
  readonly request?: R
  readonly answers: A
}

type Request = NonNullable<RouteConfig['request']>
type Answers = RouteConfig['responses']

/** Everybody may read. */
function reading<P extends string, R extends Request, A extends Answers>(
  operationId: string,
  path: P,
  { tag, summary, request, answers }: Described<R, A>,
) {
  const responses = { ...always, ...(request === undefined ? {} : badly), ...answers } as A
  return createRoute({ method: 'get', operationId, path, summary, tags: [tag], request: request as R, responses })
}

/** What is not read is signed. */
function writing<M extends 'put' | 'post' | 'delete', P extends string, R extends Request, A extends Answers>(
  operationId: string,
  [method, path]: readonly [M, P],
  { tag, summary, request, answers }: Described<R, A>,
) {
  const responses = { ...always, ...signed, ...(request === undefined ? {} : badly), ...answers } as A
  const security = [{ signed: [] }]
  return createRoute({ method, operationId, path, summary, tags: [tag], security, request: request as R, responses })
}

const box = { params: z.object({ id: boxId }) }
const wholeQuery = z.coerce.number<number | string>().int().min(1)
const done = { 200: json(doneSchema, 'Done, or done before.'), ...missing }

/** Every operation, by its id: the API serves them, the document describes them, and a client is typed by them. */
export const routes = {
  listBoxes: reading('listBoxes', '/v1/boxes', {
    tag: 'boxes',
    summary: 'Boxes of the fleet, by id, page by page',
    request: { query: boxesQuery },
    answers: { 200: json(paged(boxSummarySchema), 'Boxes.') },
  }),
  getBox: reading('getBox', '/v1/boxes/{id}', {
    tag: 'boxes',
    summary: 'One box and what its proof is worth now',
    request: box,
    answers: { 200: json(boxSchema, 'The box.'), ...missing },
  }),
  listHistory: reading('listHistory', '/v1/boxes/{id}/history', {
    tag: 'results',
    summary: 'Results of one box, newest first',
    request: { ...box, query: numberedQuery },
    answers: { 200: json(paged(resultSummarySchema), 'Results, newest first.') },
  }),
  listSpecs: reading('listSpecs', '/v1/providers/{provider}/specs', {
    tag: 'results',
    summary: 'What was last proven of each box of a provider',
    request: { params: z.object({ provider }), query: pageQuery },
    answers: { 200: json(paged(specSchema), 'Latest proven facts of each box, by its id.') },
  }),
  getResult: reading('getResult', '/v1/results/{id}', {
    tag: 'results',
    summary: 'One result',
    request: { params: z.object({ id: wholeQuery }) },
    answers: { 200: json(resultSchema, 'The result.'), ...missing },
  }),
  getCertificate: reading('getCertificate', '/v1/certificates/{runId}', {
    tag: 'results',
    summary: 'The signed certificate of a run, for anybody to check',
    request: { params: z.object({ runId: z.string().regex(/^[0-9a-f]{32}$/) }) },
    answers: { 200: json(z.unknown(), 'The file, byte for byte.'), ...missing },
  }),
  getScoreProof: reading('getScoreProof', '/v1/boxes/{id}/proof', {
    tag: 'results',
    summary: 'The score of one box in a closed round, provable against what the ledger has',
    request: { ...box, query: z.object({ round: wholeQuery.optional() }) },
    answers: { 200: json(scoreProofSchema, 'Of the round that was asked for, or of the last one.'), ...missing },
  }),
  getRoundRecord: reading('getRoundRecord', '/v1/rounds/{round}/record', {
    tag: 'fleet',
    summary: 'A closed round as the validator signed it, and how far it has come on the ledger',
    request: { params: z.object({ round: wholeQuery }) },
    answers: { 200: json(keptRoundSchema, 'The round.'), ...missing },
  }),
  listRounds: reading('listRounds', '/v1/rounds', {
    tag: 'fleet',
    summary: 'Rounds, newest first',
    request: { query: numberedQuery },
    answers: { 200: json(paged(roundSchema), 'Rounds, newest first.') },
  }),
  getStatistics: reading('getStatistics', '/v1/statistics', {
    tag: 'fleet',
    summary: 'The whole fleet in figures',
    answers: { 200: json(statisticsSchema, 'The fleet, at most two minutes old.') },
  }),
  getStatus: reading('getStatus', '/v1/status', {
    tag: 'fleet',
    summary: 'How this validator is doing',
    answers: { 200: json(statusSchema, 'How the validator was doing at `time`, at most four seconds ago.') },
  }),
  watchRuns: reading('watchRuns', '/v1/live', {
    tag: 'fleet',
    summary: 'Every run as it goes, as server-sent events',
    answers: {
      200: text(
        'text/event-stream',
        'Events hello, started, step, finished and round; beat every 15 s of silence; dropped with a count for a slow reader. The `score` of finished is what the run makes of the points of its box, and null where it leaves them as they were. Points that were earned in a window are in `waiting`: they become a score when the window is over, if nothing comes between.',
      ),
    },
  }),
  getHealth: reading('getHealth', '/health', {
    tag: 'watch',
    summary: 'Whether the validator and its store answer',
    answers: { 200: json(healthSchema, 'They do.'), 503: json(healthSchema, 'The store does not answer.') },
  }),
  getMetrics: reading('getMetrics', '/metrics', {
    tag: 'watch',
    summary: 'Counters and gauges for a scraper',
    answers: { 200: text('text/plain', 'Prometheus text, version 0.0.4.') },
  }),
  putBox: writing('putBox', ['put', '/v1/boxes/{id}'], {
    tag: 'boxes',
    summary: 'Add a box, or change it',
    request: { ...box, ...body(newBoxSchema) },
    answers: {
      ...done,
      400: refused('Of another form, a claim that names no known card, or the machine of the validator itself.'),
      409: refused('Another box has this address.'),
    },
  }),
  removeBox: writing('removeBox', ['delete', '/v1/boxes/{id}'], {
    tag: 'boxes',
    summary: 'Take a box out of the fleet',
    request: box,
    answers: done,
  }),
  setAllocation: writing('setAllocation', ['post', '/v1/boxes/{id}/allocation'], {
    tag: 'boxes',
    summary: 'Say whether a box is rented, so that it is only looked at lightly',
    request: { ...box, ...body(allocationSchema) },
    answers: done,
  }),
  askForRun: writing('askForRun', ['post', '/v1/boxes/{id}/verify'], {
    tag: 'boxes',
    summary: 'Ask for a run on a box, once a round',
    request: box,
    answers: { 200: json(askedSchema, 'Whether a run was added, and if not, why.'), ...missing },
  }),
  makeBackup: writing('makeBackup', ['post', '/v1/backup'], {
    tag: 'fleet',
    summary: 'Copy the store into a file on the validator',
    answers: { 200: json(backupSchema, 'Where it lies on the validator.') },
  }),
}
