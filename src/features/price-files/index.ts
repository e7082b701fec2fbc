import { join } from 'node:path'
import { createCatalogues } from '../catalogues/catalogues.ts'
import { createGrants } from '../catalogues/grants.ts'
import type { Feature } from '../feature.ts'
import { createCatalogueImports } from './catalogue-imports.ts'
import { SCOPES } from './contract.ts'
import { createImports } from './imports.ts'
import { probeImports } from './probe.ts'
import { resumeImports } from './resume.ts'
import { importRoutes, importSection, isUnfinished } from './routes.ts'
import { type PriceFilesSettings, priceFilesSettings } from './settings.ts'
import { texts } from './texts.ts'

/** Imports price files into a catalogue: on web pages, and from the command line (`npm run push-catalogue`). */
export const priceFiles: Feature<PriceFilesSettings> = {
  name: 'price-files',
  needs: ['catalogues', 'first-party'],
  settings: priceFilesSettings,
  scopes: SCOPES,
  probe: probeImports,
  create({ connect, store, log, dataDir, shutdownSignal, sendChanges, sections }, settings) {
    const imports = createImports({
      store,
      log,
      dir: join(dataDir, 'imports'),
      maxBytes: settings.maxUploadBytes,
      quotaBytes: settings.uploadQuotaBytes,
      totalBytes: settings.uploadTotalBytes,
      catalogueImports: createCatalogueImports(connect.api),
      source: (ref) => connect.vault.tokenSource(ref),
    })
    return {
      routes: importRoutes({
        imports,
        catalogues: createCatalogues(connect.api),
        vault: connect.vault,
        sendChanges,
        sections,
        grants: createGrants(store),
      }),
      sections: [importSection(imports)],
      connectionLinks: async (ref) =>
        (await imports.list(ref)).filter(isUnfinished).map(({ id, fileName }) => ({
          path: `/imports/${id}`,
          label: texts.importOf(fileName),
        })),
      start: () => void resumeImports(imports, shutdownSignal, log),
      close: imports.close,
      deleteUser: imports.deleteUser,
    }
  },
}
