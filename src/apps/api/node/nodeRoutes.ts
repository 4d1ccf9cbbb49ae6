import { createRoute, type RouteConfig, z } from '@hono/zod-openapi'
import { body, json, refused, text } from '../routeParts.ts'
import {
  accountKey,
  accountProofSchema,
  accountSchema,
  atQuery,
  blockSchema,
  boxScoreSchema,
  chainSchema,
  hash,
  heightSchema,
  newTxSchema,
  nodeHealthSchema,
  projectsSchema,
  submittedSchema,
  workSchema,
  worksSchema,
} from './schemas.ts'

const always = {
  429: refused('This asker has too many requests, or too many answers that it has not read.'),
  500: refused('The node made a mistake; its log has it.'),
  503: refused('Too many people read at once.'),
}
const badly = { 400: refused('A field is missing or of another form.') }
const missing = { 404: refused('There is none.') }

export const NODE_TAGS = [
  { name: 'chain', description: 'Blocks, accounts and scores, with proofs of them.' },
  { name: 'watch', description: 'For those who watch the node itself.' },
] as const

type Request = NonNullable<RouteConfig['request']>
type Answers = RouteConfig['responses']

interface Described<R, A> {
  readonly tag: (typeof NODE_TAGS)[number]['name']
  readonly summary: string
  readonly request?: R
  readonly answers: A
}

function operation<M extends 'get' | 'post', P extends string, R extends Request, A extends Answers>(
  operationId: string,
  [method, path]: readonly [M, P],
  { tag, summary, request, answers }: Described<R, A>,
) {
  const responses = { ...always, ...(request === undefined ? {} : badly), ...answers } as A
  return createRoute({ method, operationId, path, summary, tags: [tag], request: request as R, responses })
}

const account = { params: z.object({ key: accountKey }), query: atQuery }

/** A hash, a height, or one of these words. */
const blockName = z.string().regex(/^(head|final|[0-9a-f]{64}|0|[1-9][0-9]{0,14})$/)

/** Every operation of a node, by its id: the API serves them, the document describes them, and a client is typed by them. */
export const nodeRoutes = {
  getChain: operation('getChain', ['get', '/v1/chain'], {
    tag: 'chain',
    summary: 'Which chain it is, its head, and how the node is doing',
    answers: { 200: json(chainSchema, 'The chain.') },
  }),
  getBlock: operation('getBlock', ['get', '/v1/blocks/{block}'], {
    tag: 'chain',
    summary: 'A block by its hash, by its height on the branch of the head, or "head" or "final"',
    request: { params: z.object({ block: blockName }) },
    answers: { 200: json(blockSchema, 'The block.'), ...missing },
  }),
  getAccount: operation('getAccount', ['get', '/v1/accounts/{key}'], {
    tag: 'chain',
    summary: 'What an account has',
    request: account,
    answers: { 200: json(accountSchema, 'The account.'), ...missing },
  }),
  getAccountProof: operation('getAccountProof', ['get', '/v1/accounts/{key}/proof'], {
    tag: 'chain',
    summary: 'The same, with light proofs that lead to the state root of a header',
    request: account,
    answers: { 200: json(accountProofSchema, 'The proofs.'), ...missing },
  }),
  getBoxScore: operation('getBoxScore', ['get', '/v1/boxes/{key}'], {
    tag: 'chain',
    summary: 'The score of a box on the chain, with light proofs',
    request: account,
    answers: { 200: json(boxScoreSchema, 'The score.'), ...missing },
  }),
  listProjects: operation('listProjects', ['get', '/v1/projects'], {
    tag: 'chain',
    summary: 'Projects and what they ask for, the oldest first',
    request: { query: atQuery },
    answers: { 200: json(projectsSchema, 'At most 1,024 of them.') },
  }),
  listWorks: operation('listWorks', ['get', '/v1/works'], {
    tag: 'chain',
    summary: 'Works under way: who was drawn, and what is due',
    request: { query: atQuery },
    answers: { 200: json(worksSchema, 'At most 1,024 of them.') },
  }),
  getWork: operation('getWork', ['get', '/v1/works/{id}'], {
    tag: 'chain',
    summary: 'One work under way, with each of its replicas',
    request: { params: z.object({ id: hash }), query: atQuery },
    answers: { 200: json(workSchema, 'The work.'), ...missing },
  }),
  submitTransaction: operation('submitTransaction', ['post', '/v1/transactions'], {
    tag: 'chain',
    summary: 'Hand in a signed transaction; its fee is what keeps others from flooding the chain',
    request: body(newTxSchema),
    answers: {
      200: json(submittedSchema, 'Taken, or known already.'),
      409: refused('The chain would refuse it: the code of chain.md and the field.'),
      413: refused('The body is too long.'),
    },
  }),
  watchChain: operation('watchChain', ['get', '/v1/events'], {
    tag: 'chain',
    summary: 'New heads and final blocks, as server-sent events',
    answers: {
      200: text(
        'text/event-stream',
        'Events hello, head, final and halted; beat every 15 s of silence; dropped with a count for a slow reader.',
      ),
    },
  }),
  getHeight: operation('getHeight', ['get', '/height'], {
    tag: 'watch',
    summary: 'The height of the last final block: what rounds.heightUrl of a validator asks for',
    answers: { 200: json(heightSchema, 'The height.') },
  }),
  getNodeHealth: operation('getNodeHealth', ['get', '/health'], {
    tag: 'watch',
    summary: 'Whether the node follows the chain',
    answers: { 200: json(nodeHealthSchema, 'It does.'), 503: json(nodeHealthSchema, 'It has stopped.') },
  }),
}
