"""The function words of forty-one languages.

Function words are articles, pronouns, prepositions, conjunctions and auxiliaries. They have two uses.
Ranking ignores them, because they say nothing about the topic of a document; positions keep them, so that
phrases still match. And they distinguish languages, because they are the most frequent words of each. Content
words are not listed, however frequent. The English `not` is not listed either, because a query may be about
it.

The words are written as `tokens` yields them: folded, and split at apostrophes (`don` `t`).
"""

from __future__ import annotations

from functools import lru_cache

from crawlctl.pipeline.text.words.tokens import folded

_WORDS = {
    "ar": """في من على إلى الى عن مع هذا هذه ذلك تلك التي الذي الذين و أو او ثم لا ما لم لن إن ان أن كان
        كانت يكون تكون هو هي هم نحن انا أنا كل بعض قد لقد كما لكن بل حتى إذا اذا عند بين بعد قبل غير أي
        اي ليس هنا هناك حيث أيضا ايضا منذ خلال به له لها لهم فيه فيها منه منها عليه عليها إليه وقد ولا
        وهو وهي فقط كيف لماذا""",
    "bg": """и в на за от да се с по е са че не ще като до но или при след бе беше които който която
        което това този тази тези както само си му й им го я ги ни ви аз ти той тя то ние вие те към
        през между ако когато където още вече също много всички всичко има няма бъде би защото сме съм
        със във под над""",
    "ca": """el la els les un una uns unes de del dels al als a en amb per i o que no és són ser està
        han ha hem com més però si aquest aquesta aquests aquestes això aquell aquella seu seva seus
        seves meu molt també ja quan on sobre entre sense fins des perquè què qui tot tots tota totes
        altres cada pot poden hi ho li us ens jo tu ell ella nosaltres vosaltres era eren fer fa""",
    "cs": """a v ve na je se si z ze do k ke s so o u i že ale to ten ta ti ty toto tento tato jako za
        po pro jsou jsem jsi jsme jste byl byla bylo byli být bude budou by aby nebo ani který která
        které kteří jeho její jejich jen již už také tak když kde pokud při od přes nad pod před mezi
        není nejsou co kdo jak než proto protože může můžete mají má mít můj tím tom této tohoto svůj
        své však pouze další jiné všechny""",
    "da": """og i at er en et den det de som på til af for med der han hun jeg du vi dem sig sin sit
        sine har havde have var være været blev blive bliver kan kunne skal skulle vil ville må måtte
        ikke ingen men eller om hvis når hvor hvad hvem hvilken hvilke fra ud op ned ved under over
        efter før også kun så nu her denne dette disse mig dig ham hende os jer min din hans hendes
        vores deres man meget mere alle andre nogle noget nogen end da""",
    "de": """der die das den dem des ein eine einen einem einer eines und oder aber auch als am an auf
        aus bei beim bis da damit dann dass daß denn dir mir mich dich sich ich du er sie es wir ihr ihn
        ihm ihnen uns euch mein dein sein seine seiner seinem seinen ihre ihrer ihrem ihren unser euer
        dies diese dieser diesem diesen dieses jene jener durch für gegen hat haben habe hatte hatten
        ist sind war waren wird werden wurde wurden worden wäre würde in im ins kann können könnte
        könnten muss müssen soll sollen sollte mit nach nicht noch nur ob ohne sehr so sowie über um
        unter vom von vor wann was weil welche welcher welches wenn wer wie wieder wo zu zum zur
        zwischen hier dort man alle allem allen aller alles andere anderen""",
    "el": """ο η το οι τα του της των τον την και να με για από σε στο στη στην στον στα στις στους που
        πως θα δεν μην δε είναι ήταν έχει έχουν έχω ένα ένας μια μία αυτό αυτή αυτός αυτά αυτές αυτοί αν
        ή αλλά ως όπως όταν όπου ότι τι ποιος ποια κάθε όλα όλες όλοι μας σας τους τις μου σου πολύ πιο
        μόνο επίσης μπορεί μπορείτε πρέπει κατά μετά πριν χωρίς προς μέσα έξω εδώ εκεί""",
    "en": """a about above after again all also am an and any are aren as at be because been before
        being below between both but by can could couldn d did didn do does doesn doing don down during
        each few for from further had hadn has hasn have haven having he her here hers herself him
        himself his how i if in into is isn it its itself just ll m may me might more most must mustn my
        myself of off on once only or other our ours ourselves out over own re s same shall she should
        shouldn so some such t than that the their theirs them themselves then there these they this
        those through to too under until up us ve very was wasn we were weren what when where which
        while who whom whose why will with won would wouldn you your yours yourself yourselves""",
    "eo": """la kaj en de al estas estis estos ne por kun ke kiu kiuj kio kiel kiam kie sed aŭ ĝi li ŝi
        ili ni vi mi oni tiu tiuj tio tiel pri el per je da ĉu ĉi ĉiuj ankaŭ nur pli plej jam sia siaj
        lia ŝia ilia tra inter post antaŭ sub sur se do ol unu havas povas""",
    "es": """el la los las un una unos unas de del al a en con por para y e o u que se no es son ser era
        eran fue fueron sido está están estaba estar ha han he hemos había haber hay como más pero sus
        su si sin sobre este esta estos estas esto ese esa esos esas eso aquel aquella ya lo le les me
        te nos os mi mis tu tus muy también cuando donde desde hasta entre porque qué quién quien cual
        cuales todo todos toda todas otro otra otros otras cada puede pueden yo él ella ellos ellas
        nosotros usted ustedes ni tiene tienen sea durante según así""",
    "et": """ja on ei et see ka kui oma ning või aga mis kes ta ma sa me te nad mida selle seda need ole
        oli olid olla saab siis veel ainult nii kõik mille kus kuidas kuid sest juba pärast enne üle
        alla läbi koos ilma vaid välja sisse minu sinu tema meie teie nende mitte võib peab pole ehk
        kuni""",
    "eu": """eta da ez dira du dute bat edo baina ere hau hori hura honek horrek bere zen ziren izan
        izango dago daude egin egiten gero orain hemen hor han zer nor non nola noiz baino oso gehiago
        guztiak beste batzuk behar dela duen den dituen dituzte zuen zituen ni zu gu zuek haiek arte
        bezala gabe""",
    "fa": """و در به از که این را با است برای آن یک تا بر هم خود می نمی بود شد شود شده کرد کرده کند باشد
        باید اما یا اگر هر همه چه چون نیز پس دیگر بین پیش بعد روی زیر بدون آنها ما شما من او تو ایشان
        هستند نیست دارد دارند داشت ای های ها بسیار فقط همچنین کنید توان آنچه چنین وی""",
    "fi": """ja on ei että se ne hän he minä sinä me te tämä tuo nämä nuo joka jotka jonka jossa mikä
        mitä kuka oli olivat olla ole ovat ollut olisi voi voit voivat myös mutta tai kun jos kuin niin
        vain sekä sen sitä siitä siinä siihen niitä niiden tämän tätä tässä kanssa mukaan vielä jo nyt
        sitten kaikki koska ennen jälkeen ilman eli eikä en et emme ette eivät hänen minun sinun meidän
        teidän heidän itse alla yli läpi kautta""",
    "fr": """le la les l un une des de d du au aux à en dans par pour sur avec sans sous et ou où mais
        donc or ni car que qu qui quoi dont quand comme si ne n pas plus moins très aussi ce c cet cette
        ces se s son sa ses leur leurs mon ma mes ton ta tes notre nos votre vos je j tu il elle on nous
        vous ils elles me m te t lui y est sont était étaient être été suis es sommes êtes ont a ai as
        avons avez avait avaient avoir eu fait faire peut peuvent doit cela ça celui celle ceux celles
        tout tous toute toutes autre autres même chaque entre vers chez depuis jusqu lorsque lorsqu
        puisqu alors ainsi afin""",
    "ga": """an na agus is ar ag i in le do de go sé sí siad tá bhí ní níl ach a mar sin seo ó faoi féin
        nó nuair má más atá raibh gach leis chuig mé tú sibh muid againn acu aige aici orthu leo dá""",
    "he": """של את על לא הוא היא הם הן זה זו זאת אלה אלו עם גם או אך אבל כי אם אני אתה אנחנו כל יש אין
        היה היתה הייתה היו להיות יותר רק עוד מה מי איך למה איפה כמו בין לפני אחרי עד אל מן אשר לפי ידי
        בו בה לו לה להם שלו שלה שלהם כדי אותו אותה""",
    "hi": """है हैं था थी थे और का की के को में से पर ने यह वह ये वे इस उस इन उन एक भी ही तो या लेकिन कि
        जो जब तक अगर नहीं न कर करने करना किया गया गई गए हो होता होती होते होने रहा रही रहे लिए साथ बाद
        पहले अपने अपनी अपना सकते सकता सकती कुछ सभी बहुत हम मैं आप तुम उनके उसके इसके द्वारा तथा एवं""",
    "hr": """i u na je se su da za od s sa o a ili ali ne nije koji koja koje kao što to ovaj ova ovo
        taj ta te ti biti bio bila bilo bili će ću ćemo sam si smo ste bi iz do po pri kako kada gdje
        ako samo već još također ja ona oni one mi vi ga mu joj im ih svoj svoje sve svi između nakon
        prije kroz možete može mogu treba ima imaju jer onda""",
    "hu": """a az egy és hogy nem is ez ezt ezek azt azok de ha vagy van volt lesz lehet csak már még
        mint meg el ki fel le be én te ő mi ti ők aki amely ami amit ahol mert pedig minden sem itt ott
        így úgy után előtt alatt felett között által során szerint kell voltak vannak nincs olyan ilyen
        más nagyon akkor amikor majd illetve valamint saját""",
    "hy": """և ու է են էր էին որ չէ չեն այս այդ այն մեջ համար հետ մի նա նրա նրանք ես դու մենք դուք իր
        իրենց բայց կամ եթե երբ որտեղ ինչ ով բոլոր միայն նաև մինչև հետո առաջ ըստ պետք կա ունի եմ ենք""",
    "id": """yang dan di ke dari untuk dengan pada adalah ini itu tidak akan atau juga dalam oleh
        sebagai ada bisa dapat telah sudah karena jika saat bila maka agar saya anda kami kita dia
        mereka ia nya lebih hanya seperti setelah sebelum antara bagi tersebut para setiap semua lain
        harus belum masih namun tetapi secara hal bahwa sebuah suatu apa siapa bagaimana ketika""",
    "it": """il lo la i gli le l un uno una di a da in con su per tra fra del dello della dei degli
        delle al allo alla ai agli alle dal dallo dalla dai dagli dalle nel nello nella nei negli nelle
        sul sullo sulla sui sugli sulle e ed o ma che chi cui non né se come più anche è sono era erano
        essere stato stata stati state ha hanno ho abbiamo avere aveva questo questa questi queste
        quello quella quelli quelle ciò si ci vi ne mi ti io tu lui lei noi voi loro suo sua suoi sue
        mio mia nostro vostro quando dove perché quale quali ogni tutto tutti tutta tutte altro altri
        altre può possono molto solo già dopo prima senza fino""",
    "lt": """ir yra kad į iš su ne tai kaip bet ar o už nuo prie per po apie dėl tik taip jau dar kai
        jei kur kas ką jis ji jie jos aš tu mes jūs savo jo mano tavo mūsų jūsų šis ši šie tas ta tie
        tos buvo būti bus gali turi arba nėra visi visų kiekvienas iki tarp prieš pagal be""",
    "lv": """un ir ka uz no ar par kas lai bet vai kā arī pie pēc pirms līdz nav bija būt būs tika tiek
        šis šī tas tā tie tās viņš viņa viņi es tu mēs jūs savu savas ko kur kad jo ja tikai vēl jau
        ļoti visi visas var jābūt starp bez zem caur""",
    "ne": """छ छन् छैन थियो थिए र को का की लाई ले मा बाट पनि यो त्यो यी ती एक हो होइन हुन् भने भन्ने
        गर्न गर्ने गरेको भएको गरी लागि साथ तर वा कि जो जब तथा अनि म हामी तपाईं उनी उनले यस त्यस सबै धेरै
        मात्र पछि अघि""",
    "nl": """de het een en van in is dat op te zijn met voor niet aan er om ook als dan maar bij of uit
        door over naar tot worden wordt werd werden was waren heeft hebben had hadden kan kunnen kon zal
        zullen zou zouden moet moeten mag die dit deze wat wie waar wanneer welke hoe hij zij ze we wij
        je jij u ik hem haar hun ons onze mijn jouw uw zich geen meer zo nog al alle alles andere tegen
        onder tussen na sinds want omdat indien hier daar""",
    "no": """og i å er en et ei den det de som på til av for med at han hun jeg du vi dere dem seg sin
        sitt sine har hadde ha var være vært ble bli blir kan kunne skal skulle vil ville må måtte ikke
        ingen men eller om hvis når hvor hva hvem hvilken hvilke fra ut opp ned ved under over etter før
        også bare så nå her denne dette disse meg deg ham henne oss min din hans hennes vår deres man
        mye mer alle andre noen noe enn da mellom uten""",
    "pl": """i w we na z ze do się nie jest są że to ten ta te tego tej tym tych o od po za dla przez
        przy pod nad przed między a ale lub albo oraz jak jako gdy kiedy gdzie co kto który która które
        których którym był była było były być będzie będą może mogą można musi tylko także też już
        jeszcze jeśli więc więcej bardzo ja ty on ona ono my wy oni one go mu jej ich im mnie cię nas
        was swój swoje jego bez aby żeby czy tak wszystkie każdy inne należy""",
    "pt": """o a os as um uma uns umas de do da dos das em no na nos nas ao aos à às por pelo pela pelos
        pelas para com sem sob sobre entre até e ou mas que se não é são ser era eram foi foram sido
        está estão estava estar tem têm ter tinha há como mais muito já também só quando onde porque
        qual quais quem este esta estes estas isto esse essa esses essas isso aquele aquela seu sua seus
        suas meu minha eu tu ele ela eles elas nós você vocês lhe lhes me te todo todos toda todas outro
        outra outros outras cada pode podem deve nem mesmo ainda depois""",
    "ro": """și si în in de la cu pe din pentru un o unei unui unor este sunt era erau fi fost a al ai
        ale că să nu se sau dar iar care ce cine cum când unde dacă mai prin după înainte între fără
        spre până despre acest această acești aceste aceasta acesta acel acea cel cea cei cele lui lor
        ei el ea noi voi eu tu îi le îl își sale său sa avea are au am poate pot trebuie fie doar foarte
        tot toate toți orice fiecare alt alte decât astfel""",
    "ru": """и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее
        её мне было вот от меня еще ещё нет о из ему теперь когда даже ну ли если уже или ни быть был
        него до вас нибудь вам ведь там потом себя ничего ей может они тут где есть надо ней для мы тебя
        их чем была сам чтоб без будто чего раз тоже себе под будет тогда кто этот того потому этого
        какой ним здесь этом один мой тем чтобы нее были куда зачем всех можно при об это эта эти этой
        также которые который которая которое между через после перед над являются является могут""",
    "sk": """a v vo na je sa si z zo do k ku s so o u aj i že ale to ten tá tie tento táto toto ako za
        po pre sú som sme ste bol bola bolo boli byť bude budú by aby alebo ani ktorý ktorá ktoré ktorí
        jeho jej ich len už tiež tak keď kde ak pri od cez nad pod pred medzi nie čo kto než preto
        pretože môže môžete majú má mať tým tom tejto tohto svoj však iba ďalšie iné všetky""",
    "sl": """in v na je se so da za z s pa ne ki kot po pri od do o ali tudi kako če ta to te tem ti bil
        bila bilo bili biti bo bodo bi iz k h ko ker lahko več samo že še tako kjer kaj kdo ni niso sem
        smo ste ga mu jih jim jo njih njegov svoj vse vsi med pred pod nad čez skozi brez nato vendar""",
    "sr": """и у на је се су да за од с са о а или али не није који која које као што то овај ова ово
        тај та те ти бити био била било били ће ћу ћемо сам си смо сте би из до по при како када где ако
        само већ још такође ја она они оне ми ви га му јој им их свој своје све сви између након пре
        кроз може могу треба има имају јер онда""",
    "sv": """och i att är en ett den det de som på till av för med han hon jag du vi ni dem sig sin sitt
        sina har hade ha var vara varit blev bli blir kan kunde ska skall skulle vill ville måste inte
        ingen men eller om när där vad vem vilken vilka från ut upp ned ner vid under över efter före
        också bara så nu här denna detta dessa mig dig honom henne oss min din hans hennes vår deras man
        mycket mer alla andra någon något några än då mellan utan även""",
    "ta": """ஒரு என்று மற்றும் இந்த இது என்ற கொண்டு என்பது பல ஆகும் அல்லது அவர் நான் உள்ள அந்த இவர் என
        முதல் என்ன இருந்து சில என் போன்ற வேண்டும் வந்து இதன் அது அவன் தான் பலரும் என்னும் மேலும் பின்னர்
        கொண்ட இருக்கும் தனது உள்ளது போது என்றும் அதன் தன் பிறகு அவர்கள் வரை அவள் நீ ஆகிய""",
    "tr": """ve bir bu da de için ile olarak olan çok daha gibi ne o en ya her ise değil ancak ama veya
        kadar sonra önce göre var yok mı mi mu mü ben sen biz siz onlar onu ona onun bunu bunun buna şu
        ki hem nasıl neden nerede hangi kim tüm bütün bazı diğer sadece yalnızca ayrıca eğer bile üzere
        arasında altında üzerinde içinde tarafından olduğu olduğunu olur oldu edilir eder ederek olması
        hiç şey kendi""",
    "uk": """і й в у на що не з до за та як це від по для є але чи або про його її їх він вона вони ми
        ви ти я ж би бути був була було були буде так також ще вже тільки коли де якщо який яка яке які
        цей ця ці того цього тому при після перед між через без над під із зі них нього неї нам вам мене
        себе може можна треба щоб бо усі всі все""",
    "vi": """và của là có cho các những không được trong một với này đó khi đã sẽ để từ đến cũng như
        nhưng hoặc hay thì mà nếu vì bởi tại trên dưới ra vào lại nên chỉ rất nhiều hơn bạn tôi chúng họ
        nó ta đang bị do theo về sau trước cùng giữa mỗi mọi việc phải cần thể""",
    "yi": """און איז די דער דאָס דאס אין פון צו מיט אַז אז זיך ניט נישט האָט האט זענען אויף פֿון פאר
        וואָס וואס אַ א ער זי מיר איך""",
}


@lru_cache(maxsize=64)
def stop_words(language: str) -> frozenset[str]:
    """Return the function words of a language by its ISO 639-1 code; an unknown one has none."""
    return frozenset(folded(_WORDS.get(language, "")).split())


def languages() -> tuple[str, ...]:
    """Return the languages whose function words we know."""
    return tuple(_WORDS)
