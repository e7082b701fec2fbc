import { megabytes } from '../../settings/fields.ts'
import { type SettingsOf, settingsGroup } from '../../settings/read.ts'

export type PriceFilesSettings = SettingsOf<typeof priceFilesSettings>

export const priceFilesSettings = settingsGroup({
  variables: () => ({
    MAX_UPLOAD_MB: megabytes(200).meta({
      description: 'The largest price file that a user can upload, in megabytes.',
    }),
    UPLOAD_QUOTA_MB: megabytes(500).meta({
      description: 'How much the price files of one user may use together, in megabytes.',
    }),
    UPLOAD_TOTAL_MB: megabytes(2000).meta({
      description:
        'How much the price files of all users may use together in the store, before compression, in megabytes.',
    }),
  }),
  build: (values) => ({
    /** Maximum size of one price file, in bytes. */
    maxBytes: values.MAX_UPLOAD_MB,
    /** Maximum total size of one user's price files, in bytes. */
    quotaBytes: values.UPLOAD_QUOTA_MB,
    /** Maximum total size of all users' price files, in bytes. */
    totalBytes: values.UPLOAD_TOTAL_MB,
  }),
})
