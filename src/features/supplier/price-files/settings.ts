import * as z from 'zod'
import { field, type SettingsOf } from '../../../web/kit.ts'

export type PriceFilesSettings = SettingsOf<typeof priceFilesSettings>

export const priceFilesSettings = () =>
  z.object({
    maxBytes: field.megabytes(200).meta({
      variable: 'MAX_UPLOAD_MB',
      description: 'The largest price file that a user can upload, in megabytes.',
    }),
    totalBytes: field.megabytes(2000).meta({
      variable: 'UPLOAD_TOTAL_MB',
      description:
        'How much the price files of all users may use together in the store, before compression, in megabytes. The files of one user may use a quarter of that.',
    }),
  })
