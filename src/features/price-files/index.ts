import { createCatalogues } from '../catalogues/catalogues.ts'
import { createGrants } from '../catalogues/grants.ts'
import type { Feature } from '../feature.ts'
import { SCOPES } from './contract.ts'
import { openImports } from './open-imports.ts'
import { resumeImports } from './resume.ts'
import { importRoutes, importSection } from './routes.ts'
import { type PriceFilesSettings, priceFilesSettings } from './settings.ts'
import { texts } from './texts.ts'

/** Imports price files into a catalogue: on web pages, and from the command line (`npm run feature -- price-files push-catalogue`). */
export default {
  title: 'Price files',
  order: 40,
  needs: ['catalogues', 'first-party'],
  settings: priceFilesSettings,
  scopes: SCOPES,
  create(deps, settings) {
    const { connect, store, log, shutdownSignal, sendChanges } = deps
    const imports = openImports(deps, settings)
    return {
      routes: importRoutes({
        imports,
        catalogues: createCatalogues(connect.api),
        vault: connect.vault,
        sendChanges,
        grants: createGrants(store),
      }),
      sections: [importSection(imports)],
      connectionLinks: async (ref) =>
        (await imports.list(ref))
          .filter(({ state }) => state === 'running')
          .map(({ id, fileName }) => ({
            path: `/imports/${id}`,
            label: texts.importOf(fileName),
          })),
      start: () => void resumeImports(imports, shutdownSignal, log),
      stop: imports.close,
    }
  },
} satisfies Feature<PriceFilesSettings>
