import * as z from 'zod'
import * as field from './fields.ts'
import { settingsGroup } from './read.ts'

/** Sign-in by OpenID Connect; without it, the app has the demo's sign-in or your own. */
export const signInSettings = settingsGroup({
  variables: (env) => {
    const needed = env.OIDC_ISSUER ? field.required('your sign-in service names it') : z.string().optional()
    return {
      // An issuer is compared to the last character (OpenID Connect Discovery 1.0, section 4.3).
      OIDC_ISSUER: field
        .httpAddress({ hint: 'your sign-in service names it', env, parts: ['a path'] })
        .optional(),
      OIDC_CLIENT_ID: needed,
      OIDC_CLIENT_SECRET: needed,
      OIDC_TOKEN_ENDPOINT_AUTH_METHOD: field.oneOf(['client_secret_basic', 'client_secret_post']).optional(),
    }
  },
  build: ({ OIDC_ISSUER: issuer, OIDC_CLIENT_ID = '', OIDC_CLIENT_SECRET = '', ...values }) => ({
    oidc:
      issuer === undefined
        ? null
        : {
            issuer,
            clientId: OIDC_CLIENT_ID,
            clientSecret: OIDC_CLIENT_SECRET,
            tokenEndpointAuthMethod: values.OIDC_TOKEN_ENDPOINT_AUTH_METHOD,
          },
  }),
})
/** Refuses to start in production with the demo's sign-in. */
export const demoSignInRule = settingsGroup({
  variables: (env) => ({
    NODE_ENV: z
      .string()
      .optional()
      .refine(
        () => !field.isProduction(env),
        "is production, but the app has the demo's sign-in: set OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET, or add your own in src/web/sign-in.ts",
      ),
  }),
  build: () => null,
})
