/** `npm run keys`: prints new secrets, ready for `.env`. */
import { newSecrets } from '../runtime/dev-secrets.ts'

for (const [name, value] of Object.entries(newSecrets())) console.log(`${name}=${value}`)
