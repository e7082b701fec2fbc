/** `npm run generate-secrets`: prints new secrets in the format of `.env`. */
import { newSecrets } from '../runtime/dev-secrets.ts'
import { print } from '../runtime/print.ts'

for (const [name, value] of Object.entries(newSecrets())) print(`${name}=${value}`)
