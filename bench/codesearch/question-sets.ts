/** A question, and what the path and symbol of an answer match. */
export type Question = readonly [text: string, answer: RegExp];
/** By package and version; `.` is the source of this repository. */
export type Questions = Readonly<Record<string, readonly Question[]>>;

/** Ranking weights were chosen with these, too. */
export const TUNING: Questions = {
  'undici@7.30.2': [
    ['where are cookies parsed from the set-cookie header', /web\/cookies\/parse/],
    ['how does the retry agent decide how long to wait before the next attempt', /handler\/retry-handler/],
    ['how is subresource integrity of a fetched body checked', /subresource-integrity|fetch\/util/],
    [
      'what happens when a redirect goes to another origin, are authorization headers removed',
      /redirect-handler|fetch\/index|handler\/redirect/,
    ],
    ['where does the pool choose the next connection that is not busy', /dispatcher\/pool|pool-base/],
    ['how are websocket frames masked before sending', /websocket\/frame|websocket\/sender/],
    ['how is a multipart form data body parsed', /formdata-parser/],
    ['decide whether a cached response is still fresh', /cache-handler|interceptor\/cache|util\/cache/],
    ['fast timers with low resolution', /util\/timers/],
  ],
  'axios@1.21.1': [
    ['where is the query string appended to the url', /buildURL/],
    ['how does it decide not to use the proxy for a host', /shouldBypassProxy|adapters\/http/],
    ['how are upload progress events throttled', /throttle|progressEventReducer/],
    ['combine several abort signals with a timeout', /composeSignals/],
    ['read the xsrf token from a cookie', /cookies.js|resolveConfig/],
    ['where is the promise rejected because of the status code', /core\/settle/],
    ['how are request and response interceptors chained', /core\/Axios.js|InterceptorManager/],
    ['limit the download rate', /AxiosTransformStream|adapters\/http/],
  ],
  'ajv@8.20.0': [
    ['how are unique items checked', /uniqueItems/],
    ['where are default values assigned to missing properties', /validate\/defaults/],
    ['how does type coercion turn a string into a number', /dataType/],
    ['count characters in strings correctly with surrogate pairs', /ucs2length/],
    ['how is a $ref resolved to another schema', /compile\/resolve|compile\/index|core\/ref/],
    ['generate standalone validation code', /standalone\/index/],
    [
      'deciding that a property was not evaluated by any subschema',
      /unevaluatedProperties|evaluated|compile\/util/,
    ],
  ],
  'leaflet@1.9.4': [
    ['how are lines simplified before drawing', /LineUtil/],
    ['which tiles are loaded first, the ones near the center', /GridLayer/],
    ['convert latitude and longitude to pixel coordinates', /CRS.js|Map.js|SphericalMercator|Projection/],
    ['inertia after dragging the map ends', /Map.Drag/],
    ['keep the popup inside the visible area when it opens', /Popup|DivOverlay/],
    ['clip a polygon to the bounds of the view', /PolyUtil|Polygon/],
    ['zoom the map to the mouse position when the wheel is turned', /ScrollWheelZoom/],
  ],
  'knex@3.3.0': [
    ['how does the migrator prevent two processes from migrating at once', /migrat/],
    ['which connection is given back when a transaction ends', /transaction|client.js/],
    ['how are identifiers quoted for mysql', /mysql\/index/],
    ['where is an insert turned into on conflict do update for postgres', /pg-querycompiler|querycompiler/],
    [
      'how is a column dropped in sqlite although alter table does not support it',
      /sqlite.*ddl|sqlite-tablecompiler/,
    ],
    ['nested transactions use savepoints', /transaction/],
  ],
  'luxon@3.7.2': [
    ['how are ISO week numbers computed', /conversions/],
    ['parse an RFC 2822 date', /regexParser/],
    ['find the offset of a time zone at a given instant', /IANAZone/],
    ['difference between two dates in months and days', /impl\/diff|datetime/],
    ['merge intervals that overlap', /interval/],
    ['what happens to a local time that falls in a daylight saving gap', /datetime/],
  ],
  'mongoose@9.12.1': [
    ['how is populate told which models it has to query', /getModelsMapForPopulate/],
    [
      'where are timestamps such as createdAt set on update',
      /applyTimestampsToUpdate|setupTimestamps|applyTimestamps/,
    ],
    ['protect against query selector injection', /sanitizeFilter|trusted/],
    ['how is the plural collection name made from the model name', /pluralize/],
    [
      'detect that a document was changed by somebody else, with the version key',
      /model.js|VersionError|version/,
    ],
    [
      'run pre and post hooks around a model function',
      /applyHooks|applyStaticHooks|middleware|buildMiddleware/,
    ],
    ['convert a string to an object id', /cast\/objectid|schema\/objectId|types\/objectid/],
  ],
  'svelte@5.57.3': [
    ['how does the compiler find css selectors that are not used', /css-prune|css-warn/],
    [
      'where is an effect scheduled and run in a batch',
      /reactivity\/(effects|batch)|client\/(runtime|reactivity)/,
    ],
    ['how does an each block reconcile keyed items', /blocks\/each/],
    ['spring physics for animated values', /motion\/spring/],
    ['warn about missing alt text on images', /a11y/],
    ['escape html in server rendered text', /escaping|server\/(index|.*escap)/],
    ['make nested objects reactive with a proxy', /client\/proxy/],
  ],
  'express@5.3.0': [
    ['how does the app choose a view engine for a template file', /view.js|application/],
    ['where is the etag generated for a response', /utils.js|response/],
    ['trust proxy setting and the client ip address', /utils.js|request|application/],
  ],
  'ws@8.23.0': [
    ['how is a frame compressed before it is sent', /permessage-deflate|sender/],
    ['refuse a message that is too large', /receiver|permessage-deflate/],
    ['validate utf8 of a text message', /validation|receiver/],
  ],
  'commander@14.0.3': [
    ['suggest a similar command after a typo', /suggestSimilar/],
    ['how is the help text wrapped to the width of the terminal', /help.js/],
  ],
  'jsdom@29.1.1': [
    ['how are cookies of a document read', /Document-impl|cookie/],
    ['where are script elements executed', /HTMLScriptElement|script/],
    ['how does mutation observer queue its records', /mutation-observers|MutationObserver/],
  ],
};

export const HELD_OUT: Questions = {
  'three@0.187.0': [
    [
      'how does the raycaster test whether a ray hits a triangle',
      /math\/Ray.js.*intersectTriangle|checkGeometryIntersection|checkIntersection/,
    ],
    ['convert a color from HSL to RGB', /Color/],
    ['read the chunks of a binary glTF file', /GLTF/],
    ['how is a shadow map rendered for a light', /ShadowMap|ShadowNode|LightShadow/],
    ['where does the animation mixer blend two actions', /AnimationMixer|AnimationAction|PropertyMixer/],
  ],
  'eslint@9.39.5': [
    ['rule that reports variables that are never used', /no-unused-vars/],
    ['where are eslint-disable comments applied to the problems', /apply-disable-directives/],
    [
      'where are fixes of several rules merged into the source text',
      /source-code-fixer|report-translator|file-report/,
    ],
    [
      'how does the linter find the configuration for a file',
      /config-loader|flat-config|config-array|eslint.js/,
    ],
  ],
  'rxjs@7.8.2': [
    ['how does retry resubscribe after an error with a delay', /operators\/retry/],
    ['how does shareReplay keep the last values', /shareReplay/],
    ['how does debounceTime wait before it emits', /debounceTime|debounce/],
    ['where are errors reported that no subscriber handles', /reportUnhandledError|Subscriber/],
    ['how does a websocket subject keep messages until the socket is open', /WebSocketSubject/],
  ],
  '.': [
    ['how is a call retried after its connection was lost', /retry/],
    ['where is a redirect to a private address refused', /checked-lookup|redirect|network-rules/],
    [
      'what happens when two tools of different servers have the same public name',
      /public-name|assign|collision|names/,
    ],
    ['where is a sign-in link created and when does it expire', /sign-in-link/],
    ['how is the public name of a tool shortened when it is too long', /name/],
    ['what limits the size of a request body over HTTP', /body|limit/i],
  ],
};
