import { join } from 'node:path'
import { createCatalogues } from '../catalogues/catalogues.ts'
import type { Feature } from '../feature.ts'
import { createCatalogueImports } from './catalogue-imports.ts'
import { createImportService } from './import-service.ts'
import { operations } from './operations.ts'
import { resumeImports } from './resume.ts'
import { importRoutes, importSection } from './routes.ts'
import { type PriceFilesSettings, priceFilesSettings } from './settings.ts'

/** Price files on their way into a catalogue: on pages for users, and by `npm run push-catalogue` with an API key. */
export const priceFiles: Feature<PriceFilesSettings> = {
  name: 'price-files',
  needs: ['catalogues', 'first-party'],
  settings: priceFilesSettings,
  operations,
  create({ connect, store, log, dataDir, shutdownSignal, sections }, settings) {
    const imports = createImportService({
      store,
      log,
      dir: join(dataDir, 'imports'),
      maxBytes: settings.maxUploadBytes,
      quotaBytes: settings.uploadQuotaBytes,
      catalogueImports: createCatalogueImports(connect.api),
      source: connect.pacedSource,
    })
    return {
      routes: importRoutes({
        imports,
        catalogues: createCatalogues(connect.api),
        vault: connect.vault,
        shutdownSignal,
        sections,
      }),
      sections: [importSection(imports)],
      start: () => resumeImports(imports, store, shutdownSignal, log),
      close: imports.close,
    }
  },
}
