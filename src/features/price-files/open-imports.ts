import { join } from 'node:path'
import type { FeatureDeps } from '../feature.ts'
import { createCatalogueImports } from './catalogue-imports.ts'
import { createImports, type ImportService } from './imports.ts'
import type { PriceFilesSettings } from './settings.ts'

/** The imports of this app's users. */
export const openImports = (
  { connect, store, log, config }: FeatureDeps,
  settings: PriceFilesSettings,
): ImportService =>
  createImports({
    store,
    log,
    dir: join(config.dataDir, 'imports'),
    maxBytes: settings.maxUploadBytes,
    quotaBytes: settings.uploadQuotaBytes,
    totalBytes: settings.uploadTotalBytes,
    catalogueImports: createCatalogueImports(connect.api),
    source: (ref) => connect.vault.tokenSource(ref),
  })
