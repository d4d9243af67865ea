package mention

// Words that ken knows without reading a repository. A word too many in these lists hides a mention. A missing
// word causes a false report if the history had a thing of that name.
var (
	extensions = lexicon{text: `go mod sum work js jsx ts tsx mjs cjs mts cts vue svelte astro py pyi ipynb rb erb rake gemspec
		php phtml java kt kts scala groovy gradle rs c cc cpp cxx h hh hpp hxx l y m mm cs csproj sln fs fsproj vb swift dart
		ex exs erl hrl elm hs lhs ml mli clj cljs cljc edn lua pl pm r jl nim zig v sv d pas asm s sol move wat wit proto
		thrift graphql gql avsc sql prisma sh bash zsh fish ps1 psm1 bat cmd awk sed md markdown mdx mdc rst adoc txt tex
		org html htm xhtml css scss sass less styl pcss hbs ejs pug njk liquid tmpl tpl gotmpl mustache j2 jinja jinja2
		twig blade json json5 jsonc jsonl ndjson yaml yml toml ini cfg conf cnf env properties xml xsd xsl xslt plist csv
		tsv lock tf tfvars hcl nix bzl bazel cmake mk mak ninja dockerfile tape svg png jpg jpeg gif webp ico avif bmp
		pdf woff woff2 ttf mp4 webm mov mp3 wav wasm dll so dylib a jar war whl zip tar gz tgz xz zst txtar golden snap
		diff patch service timer desktop rules example sample template in inc def po pot lean coq agda typ cu cuh cl glsl
		hlsl frag vert ld map node tsbuildinfo cast db sqlite pem crt key`}
	// shortExt are extensions that may also end a selector; they need a directory before them.
	shortExt = lexicon{text: `.a .c .d .e .h .l .m .r .s .v .y .ex .in .key .map .node .lock .env .example .sample .template .service
		.rules .timer .inc .def .work .move .snap .org .so .sum .mod .db .v .po .pl .pm .cl .ld .cast .patch .diff .sed
		.properties .cmd .zip .tar .gz .wat .less .fish .jar .elm .desktop .conf .test .golden`}
	// letterExt are the single-letter extensions of languages among them. Without a directory, such a name counts
	// if a file of that name exists or existed.
	letterExt = lexicon{text: `.c .d .h .l .m .r .s .v .y`}
	files     = lexicon{text: `Makefile makefile GNUmakefile Dockerfile Containerfile Justfile justfile Taskfile Gemfile Rakefile
		Procfile Jenkinsfile Vagrantfile Brewfile Podfile Fastfile Pipfile Caddyfile Earthfile Tiltfile CODEOWNERS LICENSE
		BUILD.bazel WORKSPACE CMakeLists.txt go.mod go.sum go.work Cargo.lock yarn.lock Gemfile.lock poetry.lock uv.lock
		composer.lock Pipfile.lock flake.lock gradlew mvnw CLAUDE.md AGENTS.md README CONTRIBUTING CHANGELOG`}
	dotfiles = lexicon{text: `.gitignore .gitattributes .gitmodules .dockerignore .editorconfig .npmrc .nvmrc .node-version
		.python-version .ruby-version .tool-versions .prettierrc .prettierignore .eslintrc .eslintignore .babelrc .browserslistrc
		.stylelintrc .flake8 .pylintrc .coveragerc .rubocop.yml .clang-format .clang-tidy .mailmap .cursorrules
		.windsurfrules .clinerules .env.example .env.sample .env.template .envrc .mcp.json .npmignore .yarnrc .yarnrc.yml
		.swcrc .lintstagedrc .commitlintrc .golangci.yml .golangci.yaml .goreleaser.yml .goreleaser.yaml .pre-commit-config.yaml
		.travis.yml .gitlab-ci.yml .rspec .swiftlint.yml .rustfmt.toml .taplo.toml`}
	endings  = lexicon{text: `d test spec min stories story module config tar prod dev e2e bench env test-d`}
	products = lexicon{text: `node.js vue.js next.js nuxt.js express.js react.js angular.js d3.js three.js ember.js backbone.js
		socket.io chart.js moment.js nest.js deno.js bun.js discord.js alpine.js solid.js p5.js asp.net vb.net ml.net
		sails.js koa.js meteor.js knockout.js handlebars.js require.js underscore.js plotly.js paper.js polymer.js`}

	domains    = lexicon{text: `com org net io dev edu gov ai co de uk fr eu jp cn ru ch us sh so xyz info in me tv to rs cloud tech land`}
	media      = lexicon{text: `text application image audio video font multipart message model chemical`}
	remotes    = lexicon{text: `origin upstream refs heads feature feat fix bugfix hotfix release chore dependabot renovate`}
	installed  = lexicon{text: `node_modules .venv venv site-packages .git __pycache__ .tox .nox .cache`}
	systemDirs = lexicon{text: `etc usr var tmp home opt bin sbin dev proc sys root mnt media lib lib64 run srv boot Users private
		Applications Library Volumes api v1 v2 v3 c d C D workspace workspaces github`}

	placeholders = lexicon{text: `foo bar baz qux quux my foo1 foo2 bar1 bar2 xxx yyy zzz xyz abc lorem ipsum yourname yourproject
		myproject myapp mypackage mymodule myfile mydir mylib mycomponent myclass myfunction myfunc mymethod somefile
		somedir somewhere something somepath filename dirname pathname placeholder todo tbd asdf blah hoge fuga acme
		ext xx nn nnnn xx`}
	capsPlaceholders = lexicon{text: `PATH FILE DIR NAME FOO BAR BAZ FILENAME DIRNAME TARGET PROJECT MODULE PACKAGE VERSION ID SLUG
		TOPIC OWNER REPO USER ORG DATE TITLE FEATURE YOUR`}
	// words are joined by a slash in prose, and are never directories.
	words = lexicon{text: `and or not he she his her him they yes no on off true false read write client server input output
		request response left right top bottom start stop begin end open close pass fail success failure if else either
		neither both min max before after up down in out push pull get set get/set add remove key value old new null nil
		undefined tcp udp ip http https ssl tls n/a e.g i.e w/o ci cd i o a b y n x km s m h day week month year hour
		first last more less linux macos windows darwin mac unix posix pros cons import export encode decode enable disable
		allow deny async sync online offline internal/external public/private stdin stdout stderr warning error info debug
		black white light dark row column width height horizontal vertical`}

	// conventions are words with capitals or underscores that do not name code.
	conventions = lexicon{text: `GitHub GitLab BitBucket Bitbucket JavaScript TypeScript CoffeeScript PostgreSQL MySQL MariaDB MongoDB SQLite
		NoSQL DynamoDB CouchDB RocksDB LevelDB macOS iOS iPadOS tvOS watchOS OpenAI ChatGPT YouTube LaTeX GraphQL WebSocket
		WebSockets WebAssembly WebRTC WebGL WebGPU NodeJS NextJS VueJS ReactJS DevOps OAuth OAuth2 OpenID OpenAPI OpenSSL
		OpenSSH LinkedIn PayPal WordPress PowerShell IntelliJ PyCharm WebStorm GoLand VSCode VSCodium CircleCI TravisCI
		AppVeyor FreeBSD OpenBSD NetBSD DragonFly JetBrains NixOS CentOS OpenSUSE openSUSE AlmaLinux ArchLinux RedHat
		FileZilla DuckDB ClickHouse BigQuery RabbitMQ ActiveMQ ZeroMQ DockerHub PyPI PyPy CPython NumPy SciPy PyTorch
		TensorFlow LangChain LlamaIndex OpenTelemetry JSDoc TSDoc JavaDoc Javadoc PhpStorm DataGrip camelCase PascalCase
		snake_case UPPER_SNAKE_CASE SCREAMING_SNAKE_CASE lowerCamelCase UpperCamelCase kebabCase StackOverflow MacBook
		README TODO FIXME eBPF gRPC jQuery lodash iPhone iPad MathJax KaTeX AsciiDoc reStructuredText CommonMark
		x86_64 aarch64_be x86_32 amd64 arm64 en_US en_GB zh_CN zh_TW pt_BR utf8mb4 utf_8 us_east_1`}
	// foreign are the first parts of names that belong to languages and their libraries.
	foreign = lexicon{text: `console window document process Math JSON Object Array Promise String Number Boolean Symbol Map Set Date
		RegExp Reflect Proxy Intl globalThis global module exports require navigator location localStorage sessionStorage
		performance Buffer self this super cls std core alloc fmt os sys io re json time datetime collections itertools
		functools typing asyncio logging subprocess pathlib strings strconv bytes bufio errors sort sync atomic context
		http net url filepath ioutil reflect unsafe math rand unicode utf8 regexp runtime testing java javax kotlin scala
		System Microsoft Array React ReactDOM np pd plt tf torch http.Client e i import meta node github gopkg golang
		npm tar com org net io`}
	// builtins are functions that many languages have.
	builtins = lexicon{text: `print println printf sprintf len cap append make new copy delete panic recover close range input open map
		filter reduce forEach push pop shift unshift slice splice join split replace concat includes indexOf find findIndex
		some every keys values entries assign freeze toString valueOf setTimeout setInterval clearTimeout clearInterval
		setImmediate queueMicrotask fetch alert require import eval parseInt parseFloat isNaN isFinite encodeURIComponent
		decodeURIComponent structuredClone then catch finally resolve reject all race str int float bool list dict set
		tuple bytes type isinstance issubclass getattr setattr hasattr super dir vars range enumerate zip sorted reversed
		sum min max abs round any repr hash iter next exit quit echo die isset unset array_map array_merge empty count
		sizeof malloc calloc realloc free memcpy memset strlen strcmp main init test describe it expect beforeEach
		afterEach unwrap clone into from default iter collect vec format assert assert_eq todo unimplemented dbg write
		writeln var calc url rgb rgba hsl clamp minmax repeat if for while switch return function func def class foo bar
		exec fork wait kill read write sleep select poll malloc`}
)
