/** `npm run keys`: prints new secrets in the format of `.env`. */
import { newSecrets } from '../runtime/dev-secrets.ts'

for (const [name, value] of Object.entries(newSecrets())) console.log(`${name}=${value}`)
