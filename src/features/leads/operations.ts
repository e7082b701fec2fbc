import { type Operation, pageOfSchema, pageQuery } from '../../web/openapi.ts'
import { leadSchema, newLeadSchema } from './contract.ts'

const errors = ['not_connected', 'connection_revoked', 'insufficient_scope', 'platform_unavailable']
const path = '/connections/:bxcontext/leads'

export const operations: readonly Operation[] = [
  {
    method: 'get',
    path,
    summary: 'List the leads',
    query: pageQuery,
    response: pageOfSchema(leadSchema),
    errors,
  },
  {
    method: 'post',
    path,
    summary: 'Create a lead',
    body: newLeadSchema,
    status: 201,
    response: leadSchema,
    errors: [...errors, 'invalid_input', 'platform_rejected'],
  },
  {
    method: 'get',
    path: `${path}/:id`,
    summary: 'Get a lead',
    response: leadSchema,
    errors: [...errors, 'not_found'],
  },
]
