import { join } from 'node:path'
import type { Feature } from '../../web/kit.ts'
import { createCatalogues } from '../catalogues/catalogues.ts'
import { createGrants } from '../catalogues/grants.ts'
import { createCatalogueImports } from './catalogue-imports.ts'
import { checkFile } from './check-file.ts'
import { SCOPES } from './contract.ts'
import { Imports } from './imports.ts'
import { importRoutes, importSection } from './routes.ts'
import { type PriceFilesSettings, priceFilesSettings } from './settings.ts'
import { texts } from './texts.ts'

/** Imports price files into a catalogue: on web pages, and from the command line (`npm run feature -- price-files push-catalogue`). */
export default {
  title: 'A supplier sends prices from a spreadsheet into a catalogue',
  order: 40,
  needs: ['catalogues', 'first-party'],
  settings: priceFilesSettings,
  scopes: SCOPES,
  create({ connect, store, log, config, shutdownSignal, sendChanges }, settings) {
    const imports = new Imports({
      ...settings,
      store,
      log,
      dir: join(config.dataDir, 'imports'),
      read: checkFile,
      catalogueImports: createCatalogueImports(connect.api),
      source: (ref) => connect.vault.tokenSource(ref),
    })
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
          .map((job) => ({ path: `/imports/${job.id}`, label: texts.importOf(job.fileName) })),
      start: () => void imports.work(shutdownSignal),
      stop: () => imports.sender.close(),
    }
  },
} satisfies Feature<PriceFilesSettings>
