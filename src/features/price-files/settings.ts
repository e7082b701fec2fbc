import { megabytes } from '../../settings/fields.ts'
import { type SettingsOf, settingsGroup } from '../../settings/read.ts'

export type PriceFilesSettings = SettingsOf<typeof priceFilesSettings>

export const priceFilesSettings = settingsGroup({
  variables: () => ({
    MAX_UPLOAD_MB: megabytes(200),
    UPLOAD_QUOTA_MB: megabytes(1000),
    UPLOAD_TOTAL_MB: megabytes(1000),
  }),
  build: (values) => ({
    /** Maximum size of one price file, in bytes. */
    maxUploadBytes: values.MAX_UPLOAD_MB,
    /** Maximum total size of one user's price files, in bytes. */
    uploadQuotaBytes: values.UPLOAD_QUOTA_MB,
    /** Maximum size of the compressed copies of all users' files in Redis, in bytes. */
    uploadTotalBytes: values.UPLOAD_TOTAL_MB,
  }),
})
