import * as z from 'zod'
import { type Operation, pageOfSchema, pageQuery } from '../../web/openapi.ts'
import { accessControlSchema, catalogueSchema, newCatalogueSchema } from './contract.ts'

const errors = ['not_connected', 'connection_revoked', 'insufficient_scope', 'platform_unavailable']
const path = '/connections/:bxcontext/catalogues'

export const operations: readonly Operation[] = [
  {
    method: 'get',
    path,
    summary: 'List the catalogues',
    query: pageQuery,
    response: pageOfSchema(catalogueSchema),
    errors,
  },
  {
    method: 'post',
    path,
    summary: 'Create a catalogue',
    body: newCatalogueSchema,
    status: 201,
    response: catalogueSchema,
    errors: [...errors, 'invalid_input', 'platform_rejected'],
  },
  {
    method: 'get',
    path: `${path}/:id`,
    summary: 'Get a catalogue',
    response: catalogueSchema,
    errors: [...errors, 'not_found'],
  },
  {
    method: 'post',
    path: `${path}/:id/access-controls`,
    summary: 'Give a builder access to a Managed catalogue',
    body: accessControlSchema,
    status: 201,
    response: accessControlSchema.extend({ catalogueId: z.string() }),
    errors: [...errors, 'not_found', 'invalid_input'],
  },
]
