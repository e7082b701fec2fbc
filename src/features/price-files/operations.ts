import * as z from 'zod'
import { DECIMALS } from '../../tables/prices.ts'
import type { Operation } from '../../web/openapi.ts'
import { FIELDS } from './columns.ts'
import { jobSchema } from './import-job.ts'

const time = z.iso.datetime().nullable()
/** An import as JSON. */
export const importViewSchema = jobSchema.omit({ userId: true }).extend({
  createdAt: time,
  startedAt: time,
  endedAt: time,
  interrupted: z.boolean(),
  itemsPerSecond: z.number().nullable(),
  secondsLeft: z.number().nullable(),
})

const path = '/connections/:bxcontext/imports/:id'
const errors = ['not_found', 'conflict', 'import_unreadable']

export const operations: readonly Operation[] = [
  {
    method: 'post',
    path: '/connections/:bxcontext/catalogues/:id/imports',
    summary:
      'Upload a price file (CSV, TSV or XLSX as the body, or a form with the field `file`) and check it',
    body: z.string(),
    bodyType: 'text/csv',
    status: 201,
    response: importViewSchema,
    errors: [
      'not_connected',
      'payload_too_large',
      'upload_quota_exceeded',
      'storage_full',
      'unsupported_media_type',
      'conflict',
    ],
  },
  { method: 'get', path, summary: 'Get an import', response: importViewSchema, errors },
  {
    method: 'get',
    path: `${path}/live`,
    summary: 'Server-sent events: `changed` when the import changes, `done` when it finishes',
    response: z.string(),
    responseType: 'text/event-stream',
    errors,
  },
  {
    method: 'get',
    path: `${path}/report.csv`,
    summary: 'Download the problem rows as CSV',
    response: z.string(),
    responseType: 'text/csv',
    errors,
  },
  {
    method: 'post',
    path: `${path}/columns`,
    summary:
      'Set how to read the file (columns are zero-based) and check it again; nothing recognises everything',
    body: z.object({
      ...Object.fromEntries(FIELDS.map((field) => [field, z.number().int().min(0).optional()])),
      headingsLine: z.number().int().min(0).optional(),
      sheet: z.string().optional(),
      decimal: z.enum(DECIMALS).optional(),
      gst: z.number().min(0).lt(100).optional(),
    }),
    response: importViewSchema,
    errors: [...errors, 'invalid_input'],
  },
  {
    method: 'post',
    path: `${path}/start`,
    summary: 'Start sending the items; with `strict`, fails if any row has a problem',
    body: z.object({ strict: z.boolean().optional() }),
    status: 202,
    response: importViewSchema,
    errors: [...errors, 'invalid_input'],
  },
  { method: 'post', path: `${path}/stop`, summary: 'Stop sending', response: importViewSchema, errors },
  {
    method: 'post',
    path: `${path}/discard`,
    summary: 'Delete the import, its file and its report',
    response: z.object({ discarded: z.string() }),
    errors: ['not_found'],
  },
]
